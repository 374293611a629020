import type { Json } from './json.js'

/**
 * The digits of whole numbers that a double cannot represent, by the containing list or object and key. The value
 * itself is the nearest double, used in comparisons and sums. Code that copies a container must call `withDigitsOf`
 * to keep the digits.
 */
// eslint-disable-next-line no-restricted-syntax -- Carries digits that a number cannot hold; a value and its digits belong together.
const remembered = new WeakMap<object, Map<string | number, string>>()

// eslint-disable-next-line no-restricted-syntax -- Skips the look-ups while no value in this process has such digits.
let areAny = false

/** Fast path: whether this process has parsed any such number. */
export const digitsAreAbout = (): boolean => areAny

export const rememberDigits = (holder: object, key: string | number, digits: string): void => {
  areAny = true
  const ofHolder = remembered.get(holder)
  if (ofHolder === undefined) remembered.set(holder, new Map([[placeIn(holder, key), digits]]))
  else ofHolder.set(placeIn(holder, key), digits)
}

export const digitsIn = (holder: object, key: string | number): string | undefined =>
  areAny ? remembered.get(holder)?.get(placeIn(holder, key)) : undefined

const placeIn = (holder: object, key: string | number): string | number =>
  Array.isArray(holder) ? Number(key) : key

/** A copy of an object, or of some of its members, with their digits. */
export const withDigitsOf = <A extends object>(holder: object, copy: A): A => {
  const ofHolder = areAny ? remembered.get(holder) : undefined
  if (ofHolder === undefined) return copy
  for (const [key, digits] of ofHolder)
    if ((copy as Record<string, unknown>)[key] === (holder as Record<string, unknown>)[key])
      rememberDigits(copy, key, digits)
  return copy
}

/** Whether the value's JSON text has digits that the doubles do not. */
export const holdsDigits = (value: Json): boolean => {
  if (!areAny || typeof value !== 'object' || value === null) return false
  if (remembered.has(value)) return true
  for (const member of Object.values(value)) if (holdsDigits(member)) return true
  return false
}
