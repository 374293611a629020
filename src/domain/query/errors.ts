/** A query names a field that does not exist. */
export class UnknownField extends Error {
  override readonly name = 'UnknownField'
  constructor(readonly field: string) {
    super(`Field ${shortened(field)} is not allowed`)
  }
}

/** A query compares a field with a value that it cannot have, or names it by a malformed path. */
export class InvalidQuery extends Error {
  override readonly name = 'InvalidQuery'
}

const MAX_SHOWN = 256

/** Text of the client within a message. */
export const shortened = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`
