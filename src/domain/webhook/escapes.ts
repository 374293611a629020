import { utf8 } from './binary.js'

/** Units of a text that stand for others, which are bytes of UTF-8. */
interface Escaped {
  readonly length: number
  readonly stands: ArrayLike<number>
}

/** One way of writing some units as others. */
export interface Escape {
  /** The units that escapes begin with. */
  readonly begins: readonly number[]
  /** The escape that begins at a place; undefined where there is none. */
  readonly read: (units: Uint16Array, at: number) => Escaped | undefined
}

export const LONGEST_ESCAPE = 12

const unitOf = (character: string) => character.charCodeAt(0)
const textAt = (units: Uint16Array, from: number, to: number) =>
  String.fromCharCode(...units.subarray(from, to))

const digitOf = (unit: number | undefined): number => {
  if (unit === undefined) return NaN
  if (unit >= 48 && unit <= 57) return unit - 48
  const small = unit | 32
  return small >= 97 && small <= 102 ? small - 87 : NaN
}

/** NaN where a digit is missing. */
const hexadecimal = (units: Uint16Array, at: number, digits: number): number => {
  let value = 0
  for (let place = at; place < at + digits; place += 1) value = 16 * value + digitOf(units[place])
  return value
}

const SHORT = new Map(
  Object.entries({ b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }).map(([name, unit]) => [unitOf(name), unit]),
)
const [BACKSLASH, X, U] = ['\\', 'x', 'u'].map(unitOf) as [number, number, number]

/** Of JSON, and of languages that write text much like it. */
const json: Escape = {
  begins: [BACKSLASH],
  read: (units, at) => {
    const kind = units[at + 1]
    if (kind === undefined || (kind >= 48 && kind <= 57)) return undefined
    if (kind === X) {
      const byte = hexadecimal(units, at + 2, 2)
      return Number.isNaN(byte) ? undefined : { length: 4, stands: [byte] }
    }
    if (kind !== U) return { length: 2, stands: [SHORT.get(kind) ?? kind] }
    const high = hexadecimal(units, at + 2, 4)
    if (Number.isNaN(high)) return undefined
    if (high < 0x80) return { length: 6, stands: [high] }
    const low = units[at + 6] === BACKSLASH && units[at + 7] === U ? hexadecimal(units, at + 8, 4) : NaN
    return low >= 0xdc00 && low <= 0xdfff
      ? { length: 12, stands: utf8(String.fromCharCode(high, low)) }
      : { length: 6, stands: utf8(String.fromCharCode(high)) }
  },
}

const url: Escape = {
  begins: [unitOf('%')],
  read: (units, at) => {
    const byte = hexadecimal(units, at + 1, 2)
    return Number.isNaN(byte) ? undefined : { length: 3, stands: [byte] }
  },
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' },
  ...{ sol: '/', bsol: '\\', plus: '+', equals: '=', grave: '`', num: '#', percnt: '%', colon: ':' },
  ...{ excl: '!', dollar: '$', commat: '@', ast: '*', lowbar: '_', period: '.', comma: ',', semi: ';' },
  ...{ lpar: '(', rpar: ')', lsqb: '[', rsqb: ']', lcub: '{', rcub: '}', verbar: '|', quest: '?', hat: '^' },
}
const SEMICOLON = unitOf(';')
const NUMBERED = /^#(?:(\d{1,8})|x([0-9a-f]{1,7}))$/i

const html: Escape = {
  begins: [unitOf('&')],
  read: (units, at) => {
    let end = at + 1
    while (end < at + LONGEST_ESCAPE - 1 && end < units.length && units[end] !== SEMICOLON) end += 1
    if (units[end] !== SEMICOLON) return undefined
    const name = textAt(units, at + 1, end)
    const [, decimal, hex] = NUMBERED.exec(name) ?? []
    const point = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal)
    const stands = Number.isNaN(point) ? NAMED[name.toLowerCase()] : textOf(point)
    return stands === undefined ? undefined : { length: end + 1 - at, stands: utf8(stands) }
  },
}

const textOf = (point: number) => (point <= 0x10ffff ? String.fromCodePoint(point) : undefined)

export const escapes: readonly Escape[] = [json, url, html]
