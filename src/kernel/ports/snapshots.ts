/** Stores a snapshot of state derived from the log. A snapshot may be lost at any time. */
export interface Snapshots {
  /** Undefined if it is missing or unreadable. */
  read(): Promise<string | undefined>
  /** Replaces the snapshot atomically. */
  write(text: string): Promise<void>
}
