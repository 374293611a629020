import type { RolledUp } from './roll-up.js'

const UNKNOWN = 0
const BELOW = 1
const NOT_BELOW = 2

/** How many calls without an end stand below the answered ones, each counted once. */
export const unfinishedBelow = (
  { size, isUnfinished, deleted, parent }: RolledUp,
  isAnswered: (call: number) => boolean,
): number => {
  const verdicts = new Uint8Array(size)
  let count = 0
  for (let call = 0; call < size; call += 1) {
    if (isUnfinished[call] === 0 || deleted[call] === 1) continue
    const path = new Set<number>()
    let at = call
    let verdict = NOT_BELOW
    while (verdicts[at] === UNKNOWN && !path.has(at)) {
      path.add(at)
      const above = parent[at]!
      if (above < 0) break
      if (isAnswered(above)) {
        verdict = BELOW
        break
      }
      at = above
    }
    if (verdicts[at] !== UNKNOWN) verdict = verdicts[at]!
    for (const step of path) verdicts[step] = verdict
    if (verdict === BELOW) count += 1
  }
  return count
}
