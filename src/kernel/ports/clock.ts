/** Time and ids come from outside, since decisions are pure. */
export interface Clock {
  now(): Date
}

export interface Ids {
  /** A new UUIDv7. */
  next(): string
}
