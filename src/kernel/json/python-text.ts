import { digitsIn } from './digits.js'
import { isJsonObject, type Json } from './json.js'
import { pythonFloat } from './python-float.js'

interface PythonTextOptions {
  readonly sortKeys: boolean
  /** Replaces strings, but not keys. */
  readonly replace?: (text: string) => string
}

/** JSON as Python's `json.dumps` writes it: with blanks after `,` and `:`, and all above ASCII escaped. */
export const pythonText = (value: Json, options: PythonTextOptions): string => {
  if (typeof value === 'string') return pythonString(options.replace?.(value) ?? value)
  if (typeof value === 'number')
    return Number.isInteger(value) && Math.abs(value) < FIRST_EXPONENT
      ? String(BigInt(value))
      : pythonFloat(value)
  if (Array.isArray(value))
    return `[${value.map((item, at) => digitsIn(value, at) ?? pythonText(item as Json, options)).join(', ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const keys = Object.keys(value)
  if (options.sortKeys) keys.sort(keys.some(hasSurrogate) ? byCodePoint : undefined)
  const members = keys.map(
    (key) => `${pythonString(key)}: ${digitsIn(value, key) ?? pythonText(value[key]!, options)}`,
  )
  return `{${members.join(', ')}}`
}

/** JSON writes whole doubles of this size with an exponent, which Python reads as floats. */
const FIRST_EXPONENT = 1e21

const pythonString = (text: string): string => {
  const quoted = JSON.stringify(text)
  return BEYOND_ASCII.test(quoted) ? quoted.replace(ALL_BEYOND_ASCII, escaped) : quoted
}

const BEYOND_ASCII = /[\u007f-\uffff]/
const ALL_BEYOND_ASCII = /[\u007f-\uffff]/g

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

const hasSurrogate = (text: string): boolean => /[\ud800-\udfff]/.test(text)

/** JavaScript compares UTF-16 units, which puts the characters beyond U+FFFF before some of the others. */
const byCodePoint = (a: string, b: string): number => {
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1)
}
