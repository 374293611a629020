/** Where the last state of something that follows from the log is put down, to go on from. It may be lost at any time. */
export interface Snapshots {
  /** Undefined where there is none, and where it cannot be read. */
  read(): Promise<string | undefined>
  /** The text stands whole in place of the one before, or that one stays. */
  write(text: string): Promise<void>
}
