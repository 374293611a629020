/** Equal parts of the range of numbers. */
interface Distribution {
  readonly from: number
  readonly to: number
  /** How many numbers each part has; the last one includes its end. */
  readonly counts: readonly number[]
}

const PARTS = 20

/** Of finite numbers; null without any. */
export const distributionOf = (sorted: ArrayLike<number>): Distribution | null => {
  if (sorted.length === 0) return null
  const [from, to] = [sorted[0]!, sorted[sorted.length - 1]!]
  const width = to - from
  if (!Number.isFinite(width)) return null
  const counts = Array.from({ length: width > 0 ? PARTS : 1 }, () => 0)
  for (let at = 0; at < sorted.length; at += 1) {
    const part = width > 0 ? Math.floor(((sorted[at]! - from) / width) * PARTS) : 0
    counts[Math.min(part, counts.length - 1)]! += 1
  }
  return { from, to, counts }
}
