/** Time and new ids, the two things that a pure decision may not make itself. */
export interface Clock {
  now(): Date
}

export interface Ids {
  /** A new UUIDv7. */
  next(): string
}
