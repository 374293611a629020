import type { SignedCheckpoint } from '../../kernel/ports/log-tree.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MINUTE_MS = 60_000

const spanOf = (signedAt: number, now: number): string => {
  if (signedAt > now - DAY_MS) return `minute ${Math.floor(signedAt / MINUTE_MS)}`
  if (signedAt > now - 30 * DAY_MS) return `hour ${Math.floor(signedAt / HOUR_MS)}`
  return `day ${Math.floor(signedAt / DAY_MS)}`
}

/**
 * By size: the last one of each minute, hour or day, by its age. Those with cosignatures of witnesses are counted apart,
 * because a slow witness may cosign only some.
 */
export const thinned = (
  checkpoints: Iterable<SignedCheckpoint>,
  now: number,
): readonly SignedCheckpoint[] => {
  const last = new Map<string, SignedCheckpoint>()
  for (const checkpoint of checkpoints) {
    const signatures = checkpoint.note.split('—').length
    const span = `${spanOf(checkpoint.signedAt.getTime(), now)} ${signatures}`
    if ((last.get(span)?.size ?? 0) <= checkpoint.size) last.set(span, checkpoint)
  }
  return [...last.values()].sort((a, b) => a.size - b.size)
}
