/** Runs `work` on `size` items at a time. Results are in the order of the items. */
export const inChunks = async <A, B>(
  items: readonly A[],
  size: number,
  work: (item: A, index: number) => Promise<B>,
): Promise<readonly B[]> => {
  const results: B[] = []
  for (let from = 0; from < items.length; from += size)
    results.push(
      ...(await Promise.all(items.slice(from, from + size).map((item, at) => work(item, from + at)))),
    )
  return results
}
