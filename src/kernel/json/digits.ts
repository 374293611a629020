import type { Json } from './json.js'

/**
 * The texts of numbers that a double does not reproduce, by the containing list or object and key: whole numbers
 * beyond 2^53, and whole values written as floats, such as `1.0`, which is another value than `1` in
 * Python. The value itself
 * is the nearest double, used in comparisons and sums. Code that copies a container must call `withDigitsOf` to keep
 * the texts.
 */
// eslint-disable-next-line no-restricted-syntax -- Carries digits that a number cannot hold; a value and its digits belong together.
const remembered = new WeakMap<object, Partial<Record<string, string>>>()

// eslint-disable-next-line no-restricted-syntax -- Skips the look-ups while no value in this process has such digits.
let areAny = false

export const rememberDigits = (holder: object, key: string | number, digits: string): void => {
  areAny = true
  const ofHolder = remembered.get(holder) ?? newDigitsOf(holder)
  ofHolder[key] = digits
}

/** A list of digits takes less memory than an object with the same keys. */
const newDigitsOf = (holder: object): Partial<Record<string, string>> => {
  const digits = (Array.isArray(holder) ? [] : Object.create(null)) as Partial<Record<string, string>>
  remembered.set(holder, digits)
  return digits
}

/** For a value that is replaced. */
export const forgetDigits = (holder: object, key: string | number): void => {
  const ofHolder = areAny ? remembered.get(holder) : undefined
  if (ofHolder !== undefined) Reflect.deleteProperty(ofHolder, key)
}

/** Whether digits of an element or member are remembered. */
export const hasDigits = (holder: object): boolean => areAny && remembered.has(holder)

/** The JSON text of a number that its double does not reproduce. */
export const digitsIn = (holder: object, key: string | number): string | undefined =>
  areAny ? remembered.get(holder)?.[key] : undefined

/** Digits of a whole number, which make it another number than its double. */
export const exactDigitsIn = (holder: object, key: string | number): string | undefined => {
  const digits = digitsIn(holder, key)
  return digits !== undefined && /^-?[0-9]+$/.test(digits) ? digits : undefined
}

/** A copy of an object, or of some of its members, with their digits. */
export const withDigitsOf = <A extends object>(holder: object, copy: A): A => {
  const ofHolder = areAny ? remembered.get(holder) : undefined
  if (ofHolder === undefined) return copy
  for (const [key, digits] of Object.entries(ofHolder))
    if ((copy as Record<string, unknown>)[key] === (holder as Record<string, unknown>)[key])
      rememberDigits(copy, key, digits!)
  return copy
}

/** Gives the digits of a part to the whole that got its members, perhaps in place of others, or its elements. */
export const moveDigits = (part: object, whole: object, offset: number): void => {
  if (!areAny) return
  const isList = Array.isArray(part)
  const replaced = isList ? undefined : remembered.get(whole)
  if (replaced !== undefined) for (const key of Object.keys(part)) Reflect.deleteProperty(replaced, key)
  for (const [key, digits] of Object.entries(remembered.get(part) ?? {}))
    rememberDigits(whole, isList ? Number(key) + offset : key, digits!)
}

/** Whether the value's JSON text has digits that the doubles do not. */
export const holdsDigits = (value: Json): boolean => {
  if (!areAny || typeof value !== 'object' || value === null) return false
  if (remembered.has(value)) return true
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && holdsDigits(item as Json)) return true
    return false
  }
  for (const member of Object.values(value))
    if (typeof member === 'object' && holdsDigits(member)) return true
  return false
}
