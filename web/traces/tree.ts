/** A forest of calls as arrays, in depth-first order: no object per call, so that 100,000 calls are laid out in 40 ms. */
export interface Tree {
  /** The row in the trace's columns of each place of the depth-first order. */
  readonly order: Int32Array
  /** The place of each row. */
  readonly placeOf: Int32Array
  readonly depth: Int32Array
  /** The number of calls of the subtree at a place, itself included. */
  readonly size: Int32Array
  /** The parent's place, -1 for roots. */
  readonly above: Int32Array
}

/** Orders calls depth-first, siblings in the order of rows. Calls on a cycle of parents become roots. */
export const treeOf = (parents: readonly number[]): Tree => {
  const count = parents.length
  const parent = withoutCycles(parents)
  const first = new Int32Array(count + 1).fill(-1)
  const next = new Int32Array(count).fill(-1)
  // The last entry lists the roots.
  for (let row = count - 1; row >= 0; row -= 1) {
    const at = parent[row]! < 0 ? count : parent[row]!
    next[row] = first[at]!
    first[at] = row
  }
  const order = new Int32Array(count)
  const placeOf = new Int32Array(count)
  const depth = new Int32Array(count)
  const above = new Int32Array(count)
  const size = new Int32Array(count).fill(1)
  let place = 0
  let row = first[count]!
  let level = 0
  while (row >= 0) {
    order[place] = row
    placeOf[row] = place
    depth[place] = level
    above[place] = parent[row]! < 0 ? -1 : placeOf[parent[row]!]!
    place += 1
    if (first[row]! >= 0) {
      row = first[row]!
      level += 1
      continue
    }
    while (row >= 0 && next[row]! < 0) {
      row = parent[row]!
      level -= 1
    }
    if (row >= 0) row = next[row]!
  }
  for (let at = count - 1; at >= 0; at -= 1) if (above[at]! >= 0) size[above[at]!]! += size[at]!
  return { order, placeOf, depth, size, above }
}

const withoutCycles = (parents: readonly number[]): Int32Array => {
  const parent = Int32Array.from(parents)
  /** 0 unknown, 1 on the way up from the present call, 2 known to reach a root. */
  const state = new Uint8Array(parent.length)
  for (let row = 0; row < parent.length; row += 1) {
    let at = row
    while (at >= 0 && state[at] === 0) {
      state[at] = 1
      at = parent[at]!
    }
    if (at >= 0 && state[at] === 1) parent[at] = -1
    at = row
    while (at >= 0 && state[at] === 1) {
      state[at] = 2
      at = parent[at]!
    }
  }
  return parent
}

/** Siblings of one op are folded into one row from this many on. */
const FOLDED_FROM = 20

/** A row of the displayed table: a call, or folded siblings. */
export type TreeRow =
  | { readonly kind: 'call'; readonly place: number }
  | {
      readonly kind: 'fold'
      readonly key: string
      readonly places: readonly number[]
      readonly depth: number
    }

export interface Folding {
  /** Rows whose children are hidden. */
  readonly closed: ReadonlySet<number>
  /** Keys of folded siblings that the user opened. */
  readonly openFolds: ReadonlySet<string>
  /** Ops and failures, by row. */
  readonly ops: readonly number[]
  readonly isFailed: (row: number) => boolean
  /** The place of the selected call, which is never folded away. */
  readonly selected: number
  /** 1 for the places to show alone; nothing is folded then. */
  readonly isShown?: Uint8Array | undefined
}

/** The rows to show at or below a place. Siblings of one op without children and failures fold into one row. */
export const visibleRows = (
  tree: Tree,
  folding: Folding,
  from = 0,
  to = tree.order.length,
): readonly TreeRow[] => {
  const { order, size, depth } = tree
  const { closed, openFolds, isShown } = folding
  const rows: TreeRow[] = []
  if (isShown !== undefined) {
    for (let place = from; place < to; place += 1)
      if (isShown[place] === 1) rows.push({ kind: 'call', place })
    return rows
  }
  const folds = foldsOf(tree, folding, from, to)
  let place = from
  while (place < to) {
    const row = order[place]!
    const fold = isFoldable(tree, folding, place, from) ? folds.get(foldKey(tree, folding, place)) : undefined
    if (fold !== undefined) {
      if (openFolds.has(fold.key)) rows.push({ kind: 'call', place })
      else if (fold.places[0] === place) rows.push({ kind: 'fold', depth: depth[place]!, ...fold })
      place += 1
      continue
    }
    rows.push({ kind: 'call', place })
    place += closed.has(row) ? size[place]! : 1
  }
  return rows
}

interface Fold {
  readonly key: string
  readonly places: readonly number[]
}

/** Names the parent and the op in one number, because a trace has 100,000 of them. */
const foldKey = ({ order, above }: Tree, { ops }: Folding, place: number): number =>
  ((above[place]! < 0 ? -1 : order[above[place]!]!) + 1) * MAX_OPS + ops[order[place]!]!

const MAX_OPS = 1_000_000

const isFoldable = (
  { order, size }: Tree,
  { isFailed, selected }: Folding,
  place: number,
  from: number,
): boolean => place > from && size[place] === 1 && place !== selected && !isFailed(order[place]!)

/** The foldable siblings of one op, wherever they stand below their parent. */
const foldsOf = (tree: Tree, folding: Folding, from: number, to: number): ReadonlyMap<number, Fold> => {
  const groups = new Map<number, number[]>()
  for (let place = from + 1; place < to; place += 1) {
    if (!isFoldable(tree, folding, place, from)) continue
    const key = foldKey(tree, folding, place)
    const places = groups.get(key)
    if (places === undefined) groups.set(key, [place])
    else places.push(place)
  }
  return new Map(
    [...groups].flatMap(([key, places]) =>
      places.length < FOLDED_FROM ? [] : [[key, { key: String(key), places }]],
    ),
  )
}

/** Marks some places and all places above them. */
export const withAncestors = ({ above }: Tree, matches: (place: number) => boolean): Uint8Array => {
  const shown = new Uint8Array(above.length)
  for (let place = above.length - 1; place >= 0; place -= 1) {
    if (shown[place] === 0 && matches(place)) shown[place] = 1
    if (shown[place] === 1 && above[place]! >= 0) shown[above[place]!] = 1
  }
  return shown
}

/** Larger traces are opened down to this depth. */
const OPEN_UP_TO = 500
const OPEN_DEPTH = 2

/** The rows whose children are hidden at first. */
export const closedAtFirst = ({ order, size, depth }: Tree): ReadonlySet<number> => {
  const closed = new Set<number>()
  if (order.length <= OPEN_UP_TO) return closed
  for (const [place, row] of order.entries())
    if (size[place]! > 1 && depth[place]! >= OPEN_DEPTH - 1) closed.add(row)
  return closed
}
