/** Details of an attempt that the log does not hold. Contains no secrets. */
export interface AttemptRecord {
  readonly deliveryId: string
  readonly attempt: number
  /** Milliseconds since 1970. */
  readonly endedAt: number
  /** The body as sent, with secret names in place of their values; null if it could not be rendered. */
  readonly body: string | null
  /** As sent, with secrets redacted; absent in records of earlier releases. */
  readonly requestHeaders?: Readonly<Record<string, string>>
  readonly status: number | null
  readonly responseHeaders: Readonly<Record<string, string>>
  /** The start of the response body. */
  readonly responseBody: string
}

/** An attempt of a delivery, with the time at which the log recorded its end, in milliseconds since 1970. */
export interface EndedAttempt {
  readonly attempt: number
  readonly endedAt: number
}

/** Stores attempt records for a limited time. Everything still works without them. */
export interface AttemptRecords {
  readonly put: (records: readonly AttemptRecord[]) => void | Promise<void>
  /** The records of these attempts, in order. */
  readonly of: (
    deliveryId: string,
    attempts: readonly EndedAttempt[],
  ) => readonly AttemptRecord[] | Promise<readonly AttemptRecord[]>
  /** Deletes up to `limit` records that ended before `before` (milliseconds since 1970). */
  readonly prune: (before: number, limit: number) => void | Promise<void>
  readonly close: () => void
}
