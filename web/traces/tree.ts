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

/** A row of the displayed table: a call, or a run of folded siblings. */
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
  /** Keys of runs that the user opened. */
  readonly openFolds: ReadonlySet<string>
  /** Ops and failures, by row. */
  readonly ops: readonly number[]
  readonly isFailed: (row: number) => boolean
  /** The place of the selected call, which is never folded away. */
  readonly selected: number
}

/** The rows to show at or below a place. Runs of siblings without children and failures fold into one row. */
export const visibleRows = (
  tree: Tree,
  folding: Folding,
  from = 0,
  to = tree.order.length,
): readonly TreeRow[] => {
  const { order, size, depth } = tree
  const { closed, openFolds, ops, isFailed, selected } = folding
  const rows: TreeRow[] = []
  let place = from
  while (place < to) {
    const row = order[place]!
    if (size[place] === 1 && place > from) {
      const places = foldable(tree, ops, isFailed, selected, place, to)
      const key = String(row)
      if (places.length >= FOLDED_FROM && !openFolds.has(key)) {
        rows.push({ kind: 'fold', key, places, depth: depth[place]! })
        place = places[places.length - 1]! + 1
        continue
      }
      if (places.length >= FOLDED_FROM) {
        for (const one of places) rows.push({ kind: 'call', place: one })
        place = places[places.length - 1]! + 1
        continue
      }
    }
    rows.push({ kind: 'call', place })
    place += closed.has(row) ? size[place]! : 1
  }
  return rows
}

/** The run of siblings of one op from a place on, without children, failures and the selected call. */
const foldable = (
  { order, size, depth }: Tree,
  ops: readonly number[],
  isFailed: (row: number) => boolean,
  selected: number,
  from: number,
  to: number,
): readonly number[] => {
  const op = ops[order[from]!]
  const places: number[] = []
  for (let place = from; place < to; place += 1) {
    const row = order[place]!
    if (size[place] !== 1 || depth[place] !== depth[from] || ops[row] !== op) break
    if (isFailed(row) || place === selected) break
    places.push(place)
  }
  return places
}
