/** A part of a text: from the one place up to the other. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** A text that is looked for, and how far each of its beginnings repeats what it begins with. */
export interface Sought {
  readonly text: string
  readonly borders: Uint32Array
  /** Where a text breaks off within it, so many characters of it count too. */
  readonly leastAtEnd: number
}

/** Knuth, Morris and Pratt: whatever is looked for in whatever text, the time is linear. */
export const soughtFor = (text: string, leastAtEnd: number): Sought => {
  const borders = new Uint32Array(text.length)
  for (let at = 1, length = 0; at < text.length; at += 1) {
    while (length > 0 && text.charCodeAt(at) !== text.charCodeAt(length)) length = borders[length - 1]!
    if (text.charCodeAt(at) === text.charCodeAt(length)) length += 1
    borders[at] = length
  }
  return { text, borders, leastAtEnd }
}

/** Where it stands, in the order of the places; where it overlaps itself, that is one span. */
export const spansIn = ({ text: sought, borders, leastAtEnd }: Sought, text: string): readonly Span[] => {
  const spans: Span[] = []
  const add = (from: number, to: number) => {
    const last = spans.at(-1)
    if (last !== undefined && from < last.to) spans[spans.length - 1] = { from: last.from, to }
    else spans.push({ from, to })
  }
  let length = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    while (length > 0 && unit !== sought.charCodeAt(length)) length = borders[length - 1]!
    if (unit === sought.charCodeAt(length)) length += 1
    if (length < sought.length) continue
    add(at + 1 - length, at + 1)
    length = borders[length - 1]!
  }
  if (length >= leastAtEnd) add(text.length - length, text.length)
  return spans
}
