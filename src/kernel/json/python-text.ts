import { digitsIn } from './digits.js'
import { isJsonObject, type Json, type JsonObject } from './json.js'
import { pythonFloat } from './python-float.js'
import { textInSteps } from './text-in-steps.js'

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
  const members = pythonKeys(value, options).map(
    (key) => `${pythonString(key)}: ${digitsIn(value, key) ?? pythonText(value[key]!, options)}`,
  )
  return `{${members.join(', ')}}`
}

const pythonKeys = (value: JsonObject, { sortKeys }: PythonTextOptions): readonly string[] => {
  const keys = Object.keys(value)
  return sortKeys ? keys.sort(keys.some(hasSurrogate) ? byCodePoint : undefined) : keys
}

/** As {@link pythonText}, in steps that let other work run in between. */
export const pythonTextInSteps = (value: Json, options: PythonTextOptions, step?: number): Promise<string> =>
  textInSteps(
    value,
    {
      text: (part) => pythonText(part, options),
      digits: digitsIn,
      keys: (object) => pythonKeys(object, options),
      label: (key) => `${pythonString(key)}: `,
      comma: ', ',
      leaves: (items) => pythonText(items, options).slice(1, -1),
      // A pair of surrogates may be cut: each is escaped by itself.
      sliced: (text) => ({
        replaced: options.replace?.(text) ?? text,
        write: (slice) => pythonString(slice).slice(1, -1),
      }),
    },
    step,
  )

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
