/** What a call counts with its descendants: calls by status, requests, tokens of the prompt and of the completion. */
export type CallSum = readonly [statuses: number, requests: number, prompt: number, completion: number]

/** Bounds the time for one parent. */
const MOST_STEPS = 100_000

/**
 * The children that an SDK has added to a parent, by index, where it counts fewer calls than they do: some are of another
 * process. Those without which the others make exactly the parent's sum are left out. Where there are none such, the
 * largest children that fit into the sum count as added.
 *
 * @param room the sum of the parent without the parent itself
 */
export const addedChildren = (room: CallSum, children: readonly CallSum[]): ReadonlySet<number> => {
  const all = [...children.keys()]
  const excess = minus(children.reduce(plus, NOTHING), room)
  const strangers = withSum(children, excess)
  if (strangers !== undefined) return new Set(all.filter((index) => !strangers.has(index)))
  const added = new Set<number>()
  let left = room
  for (const index of all.sort((a, b) => bySize(children[b]!, children[a]!) || a - b)) {
    if (!fits(children[index]!, left)) continue
    added.add(index)
    left = minus(left, children[index]!)
  }
  return added
}

interface Reached {
  readonly sum: CallSum
  readonly child: number
  readonly before: Reached | undefined
}

/** Children whose sum is exactly this one; undefined if none were found. */
const withSum = (children: readonly CallSum[], sum: CallSum): ReadonlySet<number> | undefined => {
  if (!fits(NOTHING, sum)) return undefined
  const reached = new Map<string, Reached>([
    [String(NOTHING), { sum: NOTHING, child: -1, before: undefined }],
  ])
  let steps = 0
  for (const [child, own] of children.entries()) {
    if (!fits(own, sum)) continue
    for (const before of [...reached.values()]) {
      if ((steps += 1) > MOST_STEPS) return undefined
      const next = plus(before.sum, own)
      const key = String(next)
      if (fits(next, sum) && !reached.has(key)) reached.set(key, { sum: next, child, before })
    }
    const found = reached.get(String(sum))
    if (found !== undefined) return childrenOf(found)
  }
  return undefined
}

const childrenOf = (reached: Reached): ReadonlySet<number> => {
  const found = new Set<number>()
  for (let at: Reached | undefined = reached; at !== undefined && at.child >= 0; at = at.before)
    found.add(at.child)
  return found
}

const NOTHING: CallSum = [0, 0, 0, 0]

const plus = (a: CallSum, b: CallSum): CallSum => [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
const minus = (a: CallSum, b: CallSum): CallSum => [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
const fits = (part: CallSum, whole: CallSum): boolean => part.every((count, k) => count <= whole[k]!)
const bySize = (a: CallSum, b: CallSum): number => a[2] + a[3] - b[2] - b[3] || a[0] - b[0]
