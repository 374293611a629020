/** Temporary storage outside memory. Nothing in it survives the process. */
export interface Spools {
  open(): Promise<Spool>
}

export interface Spool {
  /** Appends; one call at a time. After a failed append the content is undefined. */
  append(bytes: Uint8Array): Promise<void>
  /** Reads `length` bytes from `offset`; rejects if there are fewer. */
  read(offset: number, length: number): AsyncIterable<Uint8Array>
  /** Discards the content. */
  close(): Promise<void>
}
