/**
 * ClickHouse has two JSON parsers. One takes half the time, but gives up on a text that has an integer of more than 64
 * bits anywhere, as if nothing stood in it. A condition is tried by it first, and by the other where a row is wide: may
 * hold such an integer.
 *
 * `first` stands in a subquery that ends with `settings`, `then` in the statement around it; `wide` is a column of both, 0
 * or 1.
 */
export const byTwoParsers = (wide: string, condition: string) => ({
  first: `(${wide} OR ${condition})`,
  settings: 'SETTINGS allow_simdjson = 1',
  then: `(NOT ${wide} OR ${condition})`,
})

/** Where it stands twice, SQL has to stay within what ClickHouse parses. */
const MAX_CHARACTERS = 20_000

/** Whether SQL is worth trying by both. */
export const readsSomeJson = (sql: string): boolean => sql.includes('JSON') && sql.length <= MAX_CHARACTERS
