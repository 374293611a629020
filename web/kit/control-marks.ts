/** A character that is not seen, or that changes how others are shown. */
export interface ControlMark {
  readonly label: string
  /** Such as `U+202E`. */
  readonly code: string
}

/** Joiners after letters of other scripts and within emojis are part of what is read. */
const JOINED = String.raw`(?<=(?!\p{Script=Latin})[\p{L}\p{M}]|[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])[\u200C\u200D]`
const DIRECTIONS = String.raw`\u061C\u202A-\u202E\u2066-\u2069`
const OTHERS = String.raw`[\u200B-\u200F\u2028\u2029\u2060-\u2064\uFEFF\u00AD]`
/** Tags spell text that no one sees, except in the flags of regions. */
const TAGS = String.raw`(?<!\u{1F3F4}[\u{E0020}-\u{E007F}]*)[\u{E0000}-\u{E007F}]`

/** Line feeds, tabs, and carriage returns before line feeds are layout. */
const CONTROLS = String.raw`\r(?!\n)|[\0-\x08\v\f\x0E-\x1F\x7F-\x9F${DIRECTIONS}]|${TAGS}`

const ALL = new RegExp(`${JOINED}|(${CONTROLS}|${OTHERS})`, 'gu')
const IN_PROSE = new RegExp(`${JOINED}|(${CONTROLS})`, 'gu')

const NAMES: ReadonlyMap<number, string> = new Map([
  ...'NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'
    .split(' ')
    .map((name, code) => [code, name] as const),
  [0x7f, 'DEL'],
  [0xad, 'SHY'],
  [0x61c, 'ALM'],
  ...'ZWSP ZWNJ ZWJ LRM RLM'.split(' ').map((name, n) => [0x200b + n, name] as const),
  ...'LS PS LRE RLE PDF LRO RLO'.split(' ').map((name, n) => [0x2028 + n, name] as const),
  [0x2060, 'WJ'],
  ...'LRI RLI FSI PDI'.split(' ').map((name, n) => [0x2066 + n, name] as const),
  [0xfeff, 'BOM'],
])

const markOf = (character: string): ControlMark => {
  const point = character.codePointAt(0)!
  const code = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
  const isTag = point >= 0xe0020 && point < 0xe007f
  return { code, label: NAMES.get(point) ?? (isTag ? `TAG ${String.fromCharCode(point - 0xe0000)}` : code) }
}

/** The parts of a text, its control characters as marks. Prose keeps the marks that writing in some languages needs. */
export const withMarks = (text: string, isProse = false): readonly (string | ControlMark)[] => {
  const parts: (string | ControlMark)[] = []
  let at = 0
  for (const { 0: found, 1: control, index } of text.matchAll(isProse ? IN_PROSE : ALL)) {
    if (control === undefined) continue
    if (index > at) parts.push(text.slice(at, index))
    parts.push(markOf(control))
    at = index + found.length
  }
  if (at < text.length) parts.push(text.slice(at))
  return parts
}
