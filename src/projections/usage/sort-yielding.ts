import { yielding } from '../../yield-to-event-loop.js'

const RUN = 8192

/** Sorts many items, and yields to the event loop meanwhile: runs are sorted and then merged. */
export const sortYielding = async <A>(
  items: readonly A[],
  compare: (a: A, b: A) => number,
): Promise<readonly A[]> => {
  const yieldNow = yielding()
  let runs: A[][] = []
  for (let from = 0; from < items.length; from += RUN) {
    runs.push(items.slice(from, from + RUN).sort(compare))
    await yieldNow()
  }
  while (runs.length > 1) {
    const merged: A[][] = []
    for (let i = 0; i < runs.length; i += 2)
      merged.push(await merge(runs[i]!, runs[i + 1] ?? [], compare, yieldNow))
    runs = merged
  }
  return runs[0] ?? []
}

const merge = async <A>(
  left: readonly A[],
  right: readonly A[],
  compare: (a: A, b: A) => number,
  yieldNow: ReturnType<typeof yielding>,
): Promise<A[]> => {
  const merged: A[] = []
  let l = 0
  let r = 0
  while (l < left.length || r < right.length) {
    const isLeft = r >= right.length || (l < left.length && compare(left[l]!, right[r]!) <= 0)
    merged.push(isLeft ? left[l++]! : right[r++]!)
    if (merged.length % RUN === 0) await yieldNow()
  }
  return merged
}
