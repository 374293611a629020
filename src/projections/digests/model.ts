/** How a table of a read model is told as a digest. */
export interface DigestedModel {
  readonly table: string
  /**
   * Columns of the table's sorting key, from its first, that compare with their text: rows that belong together, such as
   * the facts about one call, have the same.
   */
  readonly key: readonly string[]
  /**
   * A statement of one row a fact or a thing, with one column `row` that is text and tells it unambiguously. What came
   * later than `{position:UInt64}` is left out, and positions themselves are; where an order matters, a rank stands in
   * their place. `stretch` is the condition that bounds the rows it reads by their key.
   */
  readonly rows: (stretch: string) => string
}

/** Values as one text: quoted and escaped, so that no two lists of values have the same. */
export const told = (values: readonly string[]): string => `toString(tuple(${values.join(', ')})) AS row`

/** What a text weighs too much for sorting. */
export const hashed = (column: string): string => `hex(SHA256(${column}))`

export const upTo = (column: string): string => `(${column} <= {position:UInt64})`

/** A column that came with what stands at `position`; nothing where that is later. */
export const cameWith =
  (position: string) =>
  (column: string): string =>
    `if(ifNull(${upTo(position)}, 0), ${column}, NULL)`
