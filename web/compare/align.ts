/** Comparing more pairs takes too long for a page. */
const MAX_PAIRS = 1_000_000

type Match = readonly [left: number, right: number]

/**
 * The places of a longest common subsequence. Of lists that are too long for it, their common beginning and end.
 */
export const commonPlaces = (left: readonly string[], right: readonly string[]): readonly Match[] => {
  const least = Math.min(left.length, right.length)
  let start = 0
  while (start < least && left[start] === right[start]) start += 1
  let end = 0
  while (end < least - start && left.at(-1 - end) === right.at(-1 - end)) end += 1
  const matches: Match[] = Array.from({ length: start }, (_, n) => [n, n])
  const rows = left.length - start - end
  const columns = right.length - start - end
  if (rows * columns > 0 && rows * columns <= MAX_PAIRS) {
    const width = columns + 1
    /** The length for the rest of both lists, by their first places. */
    const lengths = new Uint32Array((rows + 1) * width)
    const isEqual = (row: number, column: number) => left[start + row] === right[start + column]
    for (let row = rows - 1; row >= 0; row -= 1)
      for (let column = columns - 1; column >= 0; column -= 1) {
        const at = row * width + column
        lengths[at] = isEqual(row, column)
          ? lengths[at + width + 1]! + 1
          : Math.max(lengths[at + width]!, lengths[at + 1]!)
      }
    let [row, column] = [0, 0]
    while (row < rows && column < columns) {
      const at = row * width + column
      if (isEqual(row, column)) matches.push([start + row++, start + column++])
      else if (lengths[at + width]! >= lengths[at + 1]!) row += 1
      else column += 1
    }
  }
  for (let n = end; n > 0; n -= 1) matches.push([left.length - n, right.length - n])
  return matches
}

export interface Pair<Item> {
  readonly left?: Item
  readonly right?: Item
}

/** Two lists side by side: equal items, and between them items of one kind, are pairs. */
export const aligned = <Item>(
  left: readonly Item[],
  right: readonly Item[],
  keyOf: (item: Item) => string,
  kindOf: (item: Item) => string,
): readonly Pair<Item>[] => {
  const pairs: Pair<Item>[] = []
  let [fromLeft, fromRight] = [0, 0]
  const addUpTo = (toLeft: number, toRight: number) => {
    while (fromLeft < toLeft || fromRight < toRight) {
      const [a, b] = [left[fromLeft], right[fromRight]]
      if (fromLeft < toLeft && fromRight < toRight && kindOf(a!) === kindOf(b!)) {
        pairs.push({ left: a!, right: b! })
        fromLeft += 1
        fromRight += 1
      } else if (fromLeft < toLeft) {
        pairs.push({ left: a! })
        fromLeft += 1
      } else {
        pairs.push({ right: b! })
        fromRight += 1
      }
    }
  }
  for (const [a, b] of commonPlaces(left.map(keyOf), right.map(keyOf))) {
    addUpTo(a, b)
    pairs.push({ left: left[a]!, right: right[b]! })
    fromLeft = a + 1
    fromRight = b + 1
  }
  addUpTo(left.length, right.length)
  return pairs
}

export interface Piece {
  readonly of: 'both' | 'left' | 'right'
  readonly text: string
}

const WORDS = /\s+|\p{Script=Han}|\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{M}\p{N}_]+|[^]/gu

/** A text with what another one has in its place, word by word. */
export const wordPieces = (left: string, right: string): readonly Piece[] => {
  const [ofLeft, ofRight] = [left.match(WORDS) ?? [], right.match(WORDS) ?? []]
  const pieces: { readonly of: Piece['of']; text: string }[] = []
  const add = (of: Piece['of'], words: readonly string[]) => {
    const text = words.join('')
    const last = pieces.at(-1)
    if (last?.of === of) last.text += text
    else if (text !== '') pieces.push({ of, text })
  }
  let [fromLeft, fromRight] = [0, 0]
  const addUpTo = (toLeft: number, toRight: number) => {
    add('left', ofLeft.slice(fromLeft, toLeft))
    add('right', ofRight.slice(fromRight, toRight))
  }
  for (const [a, b] of commonPlaces(ofLeft, ofRight)) {
    addUpTo(a, b)
    add('both', [ofLeft[a]!])
    fromLeft = a + 1
    fromRight = b + 1
  }
  addUpTo(ofLeft.length, ofRight.length)
  return pieces
}
