/** The keys greater than `after`, or all, by UTF-16 units. */
export const sorted = (keys: Iterable<string> = [], after?: string): readonly string[] =>
  (after === undefined ? [...keys] : [...keys].filter((key) => key > after)).sort()

/** The entries whose keys are greater than `after`, or all, in the order of the keys. */
export function* sortedAfter<V>(map: ReadonlyMap<string, V> = new Map(), after?: string) {
  for (const key of sorted(map.keys(), after)) yield [key, map.get(key) as V] as const
}
