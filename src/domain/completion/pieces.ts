/** So many pieces at most are strings of their own: a short string takes several times its length. */
const MOST_LOOSE = 64

/** Text that comes in many small pieces, kept as few strings. */
export class Pieces {
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
