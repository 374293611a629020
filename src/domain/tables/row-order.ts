const LONGEST = 1024

/** A long list with many insertions and removals. It is stored in short pieces, so that a change moves few items. */
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

  /** Inserts before an index from 0 to the length. */
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

  /** Removes and returns the item at an index. */
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

  /** The first piece with more than `index` items left, or the last piece. */
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
