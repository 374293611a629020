/** The parts of a dotted field name; `\.` is a dot within a part. */
export const fieldPath = (name: string): readonly [string, ...string[]] => {
  const [first = '', ...rest] = name.split(/(?<!\\)\./).map((part) => part.replaceAll('\\.', '.'))
  return [first, ...rest]
}

/** The place in a list that a part of a path names, from 0; undefined for a part that can only be a key. */
export const listIndex = (part: string): number | undefined =>
  /^\d{1,9}$/.test(part) ? Number(part) : undefined
