/** How the rows of a table become a digest. */
export interface DigestedModel {
  readonly table: string
  /**
   * The first columns of the table's sorting key, whose values compare as their text does. All rows about one subject,
   * such as a call, have the same key.
   */
  readonly key: readonly string[]
  /**
   * Selects one text column `row`, unambiguous for its values. Rows after `{position:UInt64}` and positions themselves
   * are excluded; where order matters, a rank replaces the position. `range` is a condition on the key.
   */
  readonly rows: (range: string) => string
}

/** Values as one text, quoted and escaped. */
export const rowText = (values: readonly string[]): string => `toString(tuple(${values.join(', ')})) AS row`

export const atOrBefore = (column: string): string => `(${column} <= {position:UInt64})`

/** A column if the position column of its event is not after the position, else NULL. */
export const valueAsOf =
  (position: string) =>
  (column: string): string =>
    `if(ifNull(${atOrBefore(position)}, 0), ${column}, NULL)`
