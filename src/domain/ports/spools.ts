/** Room outside memory for bytes that are needed for a while. Nothing of it outlives the process. */
export interface Spools {
  /** An empty one. */
  open(): Promise<Spool>
}

export interface Spool {
  /** Behind what is there; one append at a time. After one that failed, what the spool holds is unknown. */
  append(bytes: Uint8Array): Promise<void>
  /** The bytes from `offset` on; rejects where there are not so many. */
  read(offset: number, length: number): AsyncIterable<Uint8Array>
  /** What it holds is gone. */
  close(): Promise<void>
}
