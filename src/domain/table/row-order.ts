const LONGEST = 1024

/**
 * A long list that is changed in many places, one after the other: it lies in short pieces, so that a change moves few
 * of its items.
 */
export class RowOrder {
  #pieces: string[][]
  #length: number

  constructor(digests: readonly string[]) {
    this.#pieces = []
    for (let at = 0; at < digests.length; at += LONGEST / 2)
      this.#pieces.push(digests.slice(at, at + LONGEST / 2))
    this.#length = digests.length
  }

  get length(): number {
    return this.#length
  }

  /** Puts a digest before the one at an index of 0 to the length. */
  insert(index: number, digest: string): void {
    const [at, within] = this.#find(index)
    const piece = this.#pieces[at]
    this.#length += 1
    if (piece === undefined) {
      this.#pieces.push([digest])
      return
    }
    piece.splice(within, 0, digest)
    if (piece.length > LONGEST)
      this.#pieces.splice(at, 1, piece.slice(0, LONGEST / 2), piece.slice(LONGEST / 2))
  }

  /** Takes out the digest at an index below the length. */
  pop(index: number): string {
    const [at, within] = this.#find(index + 1)
    const piece = this.#pieces[at]!
    const [digest] = piece.splice(within - 1, 1)
    if (piece.length === 0) this.#pieces.splice(at, 1)
    this.#length -= 1
    return digest!
  }

  toArray(): readonly string[] {
    return this.#pieces.flat()
  }

  /** The first piece that has so many items, or what is left of them in the last. */
  #find(index: number): readonly [piece: number, within: number] {
    let left = index
    for (let at = 0; at < this.#pieces.length; at += 1) {
      const { length } = this.#pieces[at]!
      if (left <= length) return [at, left]
      left -= length
    }
    return [this.#pieces.length, 0]
  }
}
