import type { Tree } from './tree.js'

/** A time in which a root waited for a call itself, and for none of its children. */
export interface PathSegment {
  readonly row: number
  readonly from: number
  readonly to: number
}

/** By row. */
interface Times {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

interface Frame {
  readonly row: number
  readonly start: number
  readonly end: number
  /** The path is known from here to the end. */
  known: number
  /** Rows, the last to end last. */
  readonly children: number[]
}

/**
 * The critical path of a root: from the end of a call back to its start it goes through the child that ended last, then
 * through the one that ended last before that child started, and so on. The segments cover the time of the root without
 * gaps, the last first. Children count within the time of their parent.
 */
export const criticalPath = (times: Times, tree: Tree, rootPlace: number): readonly PathSegment[] => {
  const segments: PathSegment[] = []
  const root = tree.order[rootPlace]
  if (root === undefined) return segments
  const add = (row: number, from: number, to: number) => {
    if (from < to) segments.push({ row, from, to })
  }
  // Calls can be nested deeper than functions.
  const frames = [frameOf(times, tree, root, times.starts[root]!, times.ends[root]!)]
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const child = nextChild(times, tree, frame)
    add(frame.row, child?.end ?? frame.start, frame.known)
    if (child === undefined) frames.pop()
    else {
      frame.known = child.start
      frames.push(child)
    }
  }
  return segments
}

const frameOf = ({ ends }: Times, tree: Tree, row: number, start: number, end: number): Frame => {
  const children: number[] = []
  const place = tree.placeOf[row]!
  for (let at = place + 1; at < place + tree.size[place]!; at += tree.size[at]!)
    children.push(tree.order[at]!)
  const endOf = (child: number) => Math.min(end, ends[child]!)
  return { row, start, end, known: end, children: children.sort((a, b) => endOf(a) - endOf(b)) }
}

/** The child that ended last before the known part, and took time. Each is looked at once. */
const nextChild = (times: Times, tree: Tree, frame: Frame): Frame | undefined => {
  for (let row = frame.children.pop(); row !== undefined; row = frame.children.pop()) {
    const start = Math.max(frame.start, times.starts[row]!)
    const end = Math.min(frame.end, times.ends[row]!)
    if (end <= frame.known && start < end) return frameOf(times, tree, row, start, end)
  }
  return undefined
}
