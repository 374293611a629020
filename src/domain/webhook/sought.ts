/** A part of a text: from the one place up to the other. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Where one text ends and another begins. */
export const BREAK = 0xffff

/** Texts that are looked for all at once. */
export interface Sought {
  /** How many characters it is made of, about: what it takes in memory goes with them. */
  readonly size: number
  /**
   * Parts of a text that between them cover every place where one of the texts stands; where the text ends within
   * one, or breaks, at least `leastAtEnd` characters of it count too.
   */
  readonly spansIn: (text: Uint16Array, leastAtEnd: number) => readonly Span[]
}

const BYTES = 256
const ROOT = 0
const NONE = -1

/**
 * Aho and Corasick's automaton: whatever is looked for, and however many, the time goes with the length of the text. A
 * node stands for a beginning of the texts; `back` is the longest other one that it ends with, `found` how long the
 * longest whole text is that it ends with.
 *
 * @param texts of bytes, one character each
 */
export const soughtFor = (texts: readonly string[]): Sought => {
  const most = texts.reduce((sum, { length }) => sum + length, 1)
  const unit = new Uint8Array(most)
  const [child, sibling, back, depth, found] = Array.from({ length: 5 }, () => new Int32Array(most)) as [
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
  ]
  child.fill(NONE)
  const begins = new Int32Array(BYTES).fill(NONE)
  let nodes = 1

  const below = (node: number, wanted: number): number => {
    if (node === ROOT) return begins[wanted] ?? NONE
    let at = child[node]!
    while (at !== NONE && unit[at] !== wanted) at = sibling[at]!
    return at
  }
  const added = (node: number, wanted: number): number => {
    const made = nodes
    nodes += 1
    unit[made] = wanted
    depth[made] = depth[node]! + 1
    sibling[made] = child[node]!
    child[node] = made
    if (node === ROOT) begins[wanted] = made
    return made
  }
  for (const text of texts) {
    let node = ROOT
    for (let at = 0; at < text.length; at += 1) {
      const next = below(node, text.charCodeAt(at))
      node = next === NONE ? added(node, text.charCodeAt(at)) : next
    }
    found[node] = depth[node]!
  }

  /** The node for the longest end of what a node stands for and one unit more. */
  const after = (from: number, wanted: number): number => {
    for (let node = from; ; node = back[node]!) {
      const next = below(node, wanted)
      if (next !== NONE) return next
      if (node === ROOT) return ROOT
    }
  }
  const queue = new Int32Array(nodes)
  for (let first = 0, last = 1; first < last; first += 1) {
    const node = queue[first]!
    for (let at = child[node]!; at !== NONE; at = sibling[at]!) {
      queue[last] = at
      last += 1
      if (node === ROOT) continue
      back[at] = after(back[node]!, unit[at]!)
      if (found[at] === 0) found[at] = found[back[at]!]!
    }
  }

  return {
    size: nodes,
    spansIn: (text, leastAtEnd) => {
      const spans: Span[] = []
      let node = ROOT
      const end = (at: number) => {
        if (depth[node]! >= leastAtEnd) spans.push({ from: at - depth[node]!, to: at })
      }
      for (let at = 0; at < text.length; at += 1) {
        if (text[at] === BREAK) end(at)
        node = after(node, text[at]!)
        if (found[node]! > 0) spans.push({ from: at + 1 - found[node]!, to: at + 1 })
      }
      end(text.length)
      return spans
    },
  }
}
