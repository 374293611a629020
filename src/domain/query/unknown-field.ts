const MAX_NAME = 256

/** A query names a field that does not exist. */
export class UnknownField extends Error {
  override readonly name = 'UnknownField'
  constructor(readonly field: string) {
    super(`Field ${shortened(field)} is not allowed`)
  }
}

const shortened = (field: string): string =>
  field.length <= MAX_NAME ? field : `${field.slice(0, MAX_NAME).toWellFormed()}…`
