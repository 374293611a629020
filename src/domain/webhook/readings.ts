import { escapes, LONGEST_ESCAPE, type Escape } from './escapes.js'
import { BREAK } from './sought.js'

/** A text as it reads once something was undone; each unit stands from one place of the text up to another. */
export interface Reading {
  readonly units: Uint16Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  /** What is shorter means nothing: it may stand there by chance. */
  readonly least: number
}

/** How often something is undone, one thing after the other. */
const MOST_LAYERS = 2
/** Between runs of digits: no text has it. */
const GAP = BREAK - 1
const PADDING = '='.charCodeAt(0)

const NO_DIGIT = -1
const LINE_END = -2

interface Code {
  /** What each unit stands for; `NO_DIGIT`, or `LINE_END` within digits. */
  readonly values: Int8Array
  /** Of one digit. */
  readonly bits: number
  /** How many digits at the beginning of a run may belong to something else. */
  readonly skipped: readonly number[]
  readonly least: number
}

const valuesOf = (...digits: readonly string[]): Int8Array => {
  const values = new Int8Array(0x10000).fill(NO_DIGIT)
  for (const unit of '\r\n') values[unit.charCodeAt(0)] = LINE_END
  for (const one of digits)
    for (let value = 0; value < one.length; value += 1) values[one.charCodeAt(value)] = value
  return values
}

const DIGITS = '0123456789abcdef'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

const codes: readonly Code[] = [
  { values: valuesOf(DIGITS, DIGITS.toUpperCase()), bits: 4, skipped: [0, 1], least: 2 },
  { values: valuesOf(`${LETTERS}+/`, `${LETTERS}-_`), bits: 6, skipped: [0, 1, 2, 3], least: 3 },
]

/**
 * A text in all ways in which it can be read: as it is; without the escapes of JSON, URLs or HTML; and with hexadecimal
 * digits or base64 decoded, wherever it begins and however it is broken into lines; each on top of another one.
 */
export const readingsOf = (text: string): Generator<Reading> => {
  const plain = empty(text.length, 1)
  for (let at = 0; at < text.length; at += 1) {
    plain.units[at] = text.charCodeAt(at)
    plain.from[at] = at
    plain.to[at] = at + 1
  }
  return readings(plain, MOST_LAYERS)
}

const readings = function* (reading: Reading, layers: number): Generator<Reading> {
  yield reading
  if (layers === 0) return
  for (const escape of escapes) {
    const unescaped = without(reading, escape)
    if (unescaped !== undefined) yield* readings(unescaped, layers - 1)
  }
  for (const code of codes)
    for (const skipped of code.skipped) {
      const decoded = decodedBy(code, reading, skipped)
      if (decoded === undefined) break
      yield* readings(decoded, layers - 1)
    }
}

/**
 * Undefined where there is no escape. An escape is never shorter than what it stands for. Where the text may have broken
 * off within one, it reads up to there.
 */
const without = ({ units, from, to, least }: Reading, { begins, read }: Escape): Reading | undefined => {
  if (!begins.some((unit) => units.includes(unit))) return undefined
  const left = empty(units.length, least)
  let length = 0
  let isChanged = false
  for (let at = 0; at < units.length;) {
    const mayBegin = begins.includes(units[at]!)
    const escape = mayBegin ? read(units, at) : undefined
    const isCut = mayBegin && escape === undefined && at + LONGEST_ESCAPE > units.length
    isChanged ||= isCut || escape !== undefined
    if (isCut) break
    const taken = escape?.length ?? 1
    const written = escape?.stands.length ?? 1
    for (let place = 0; place < written; place += 1, length += 1) {
      left.units[length] = escape?.stands[place] ?? units[at]!
      left.from[length] = from[at]!
      left.to[length] = to[at + taken - 1]!
    }
    at += taken
  }
  return isChanged ? upTo(left, length) : undefined
}

/**
 * Decodes each run of digits but for its first few; undefined where nothing can be. What pads a run is a part of its
 * last unit, so that it goes where that goes.
 */
const decodedBy = (
  { values, bits, least }: Code,
  { units, from, to }: Reading,
  skipped: number,
): Reading | undefined => {
  const decoded = empty(units.length, least)
  const { units: bytes, from: begins, to: ends } = decoded
  let length = 0
  let [digits, held, count, first] = [0, 0, 0, 0]
  for (let at = 0; at < units.length; at += 1) {
    const value = values[units[at]!]!
    if (value === LINE_END) continue
    if (value === NO_DIGIT) {
      for (let pad = at; count > 0 && pad < at + 2 && units[pad] === PADDING; pad += 1)
        ends[length - 1] = to[pad]!
      if (length > 0 && bytes[length - 1]! < GAP) {
        bytes[length] = units[at] === BREAK ? BREAK : GAP
        begins[length] = from[at]!
        ends[length] = from[at]!
        length += 1
      }
      digits = 0
      count = 0
      continue
    }
    digits += 1
    if (digits <= skipped) continue
    if (count === 0) first = at
    held = ((held << bits) | value) & 0xffff
    count += bits
    if (count < 8) continue
    count -= 8
    bytes[length] = (held >> count) & 0xff
    begins[length] = from[first]!
    ends[length] = to[at]!
    length += 1
    first = at
  }
  return length === 0 ? undefined : upTo(decoded, length)
}

const empty = (length: number, least: number): Reading => ({
  ...{ units: new Uint16Array(length), from: new Uint32Array(length), to: new Uint32Array(length) },
  least,
})

const upTo = ({ units, from, to, least }: Reading, length: number): Reading => ({
  ...{ units: units.subarray(0, length), from: from.subarray(0, length), to: to.subarray(0, length) },
  least,
})
