/** Splits a dotted field name; `\.` is a literal dot. */
export const fieldPath = (name: string): readonly [string, ...string[]] => {
  const [first = '', ...rest] = name.split(/(?<!\\)\./).map((part) => part.replaceAll('\\.', '.'))
  return [first, ...rest]
}

/** The list index in a path part, from 0; undefined for an object key. */
export const listIndex = (part: string): number | undefined =>
  /^\d{1,9}$/.test(part) ? Number(part) : undefined

/** Prints keys so that they are read again as the same path. */
export const printFieldPath = (keys: readonly string[]): string =>
  keys.map((key) => key.replace(/[\\.]/g, '\\$&')).join('.')
