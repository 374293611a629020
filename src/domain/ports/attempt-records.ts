/** What an attempt looked like beyond what the log says of it. Nothing in it is secret. */
export interface AttemptRecord {
  readonly deliveryId: string
  readonly attempt: number
  /** When it ended, in milliseconds since 1970. */
  readonly endedAt: number
  /** The body as it was sent, with the names of secrets in place of their values; null where it could not be made. */
  readonly body: string | null
  readonly status: number | null
  readonly responseHeaders: Readonly<Record<string, string>>
  /** The beginning of the answer's body. */
  readonly responseBody: string
}

/** Where these are kept for a while, outside the log: the log does without them. */
export interface AttemptRecords {
  readonly put: (records: readonly AttemptRecord[]) => void
  /** Those of the attempts from the first to the last number, in order. */
  readonly of: (
    deliveryId: string,
    attempts: { readonly first: number; readonly last: number },
  ) => readonly AttemptRecord[]
  /** Deletes what ended before, in milliseconds since 1970; at most so many at a time. Answers how many. */
  readonly prune: (before: number, limit: number) => number
  readonly close: () => void
}
