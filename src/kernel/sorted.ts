/** The keys greater than `after`, or all, in UTF-16 order. */
export const sorted = (keys: Iterable<string> = [], after?: string): readonly string[] =>
  (after === undefined ? [...keys] : [...keys].filter((key) => key > after)).sort()

/** The entries with keys greater than `after`, or all, in key order. */
export function* sortedAfter<V>(map: ReadonlyMap<string, V> = new Map(), after?: string) {
  for (const key of sorted(map.keys(), after)) yield [key, map.get(key) as V] as const
}
