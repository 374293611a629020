/** What can fail while the service runs. */
export type HealthPart = 'event-log-writes' | 'event-log-reads' | 'blobs' | 'reads'

/** Adapters report here what the last use of a part came to. */
export interface HealthReports {
  /** `error` is null for a success. An error that does not blame the part, such as a conflict, changes nothing. */
  readonly report: (part: HealthPart, error: unknown) => void
}

export const noHealthReports: HealthReports = { report: () => undefined }
