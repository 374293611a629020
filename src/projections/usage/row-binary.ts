/**
 * Reads values of ClickHouse's RowBinary format out of chunks that may break anywhere. Rows are read by `next`: where
 * a row is not whole yet, it is read again once more bytes are there.
 */
export class RowBinaryReader {
  #chunk: Uint8Array = new Uint8Array(0)
  #view: DataView = new DataView(new ArrayBuffer(0))
  #at = 0

  /** The bytes that offsets from `text` point into, until the next chunk comes. */
  get bytes(): Uint8Array {
    return this.#chunk
  }

  /** Calls `row` for each whole row in the chunk and what was left of the last one. */
  feed(chunk: Uint8Array, row: () => void): void {
    this.#take(chunk)
    for (;;) {
      const start = this.#at
      try {
        if (start === this.#chunk.length) return
        row()
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        this.#at = start
        return
      }
    }
  }

  isDrained(): boolean {
    return this.#at === this.#chunk.length
  }

  uint8(): number {
    const value = this.#chunk[this.#at]
    if (value === undefined) throw new RangeError()
    this.#at += 1
    return value
  }

  uint32(): number {
    const value = this.#view.getUint32(this.#at, true)
    this.#at += 4
    return value
  }

  float64(): number {
    const value = this.#view.getFloat64(this.#at, true)
    this.#at += 8
    return value
  }

  /** LEB128, as ClickHouse writes lengths. */
  length(): number {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = this.uint8()
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
  }

  /** Skips a string of this length; answers where it starts in `bytes`. */
  skip(length: number): number {
    const start = this.#at
    if (start + length > this.#chunk.length) throw new RangeError()
    this.#at = start + length
    return start
  }

  #take(chunk: Uint8Array): void {
    const left = this.#chunk.subarray(this.#at)
    this.#chunk = left.length === 0 ? chunk : Buffer.concat([left, chunk])
    this.#view = new DataView(this.#chunk.buffer, this.#chunk.byteOffset, this.#chunk.byteLength)
    this.#at = 0
  }
}
