import type { RecordedEvent } from './event-store.js'

/** Parts that can fail while the service runs. */
export type HealthPart =
  | 'event-log-writes'
  | 'event-log-packs'
  | 'event-log-reads'
  | 'log-tree'
  | 'log-witnesses'
  | 'blobs'
  | 'blob-reads'
  | 'blob-cache'
  | 'blob-content'
  | 'reads'

/** Adapters report the result of each use of a part. */
export interface HealthReports {
  /** `error` is null for a success. An error that is not the part's fault, such as a conflict, changes nothing. */
  readonly report: (part: HealthPart, error: unknown) => void
  /** For each reading of an unreadable event. */
  readonly unreadable?: (event: RecordedEvent) => void
}

export const noHealthReports: HealthReports = { report: () => undefined }
