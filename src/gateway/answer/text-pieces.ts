/** Pieces are joined after this many: a short string takes several times its length in memory. */
const MOST_LOOSE = 64

/** Text that arrives in many small pieces, stored in few strings. */
export class TextPieces {
  private readonly joined: string[] = []
  private loose: string[] = []

  add(piece: string): void {
    if (this.loose.push(piece) < MOST_LOOSE) return
    this.joined.push(this.loose.join(''))
    this.loose = []
  }

  get text(): string {
    return [...this.joined, ...this.loose].join('')
  }
}
