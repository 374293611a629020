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

/** Stores attempt records for a limited time. Everything still works without them. */
export interface AttemptRecords {
  readonly put: (records: readonly AttemptRecord[]) => void
  /** The records of the attempts numbered from first to last, in order. */
  readonly of: (
    deliveryId: string,
    attempts: { readonly first: number; readonly last: number },
  ) => readonly AttemptRecord[]
  /** Deletes up to `limit` records that ended before `before` (milliseconds since 1970). Returns the number deleted. */
  readonly prune: (before: number, limit: number) => number
  readonly close: () => void
}
