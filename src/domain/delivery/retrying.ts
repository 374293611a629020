const SECOND = 1000
const MINUTE = 60
const HOUR = 3600

/** Waits before the second attempt and the further ones, in seconds: 76.7 hours in all. */
export const USUAL_WAITS_S: readonly number[] = [
  5,
  30,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

/** Time not held after which a delivery is given up, in milliseconds. */
export const MAX_AGE_MS = 5 * 24 * HOUR * SECOND

const JITTER = 0.2

/** Which wait comes next: after so many failures, spread by what no restart changes. */
export interface Step {
  readonly deliveryId: string
  readonly attempt: number
  /** Attempts that failed since it was scheduled, or sent again. */
  readonly failures: number
  /** In seconds; null stands for the usual ones. */
  readonly waitsS: readonly number[] | null
}

/** The wait before the next attempt in milliseconds, ±20 %; undefined where there is none left. */
export const waitAfter = ({ deliveryId, attempt, failures, waitsS }: Step): number | undefined => {
  const wait = (waitsS ?? USUAL_WAITS_S)[failures - 1]
  return wait === undefined ? undefined : spread(wait, deliveryId, attempt)
}

/** The wait after an attempt of which nobody knows what became of it, in milliseconds. */
export const waitAfterUnknown = ({ deliveryId, attempt, waitsS }: Omit<Step, 'failures'>): number =>
  spread(waitsS?.[0] ?? USUAL_WAITS_S[0]!, deliveryId, attempt)

const spread = (waitS: number, deliveryId: string, attempt: number): number =>
  Math.round(waitS * SECOND * (1 + JITTER * (2 * fraction(`${deliveryId}/${attempt}`) - 1)))

/** The same number in [0, 1) for the same text: FNV-1a, mixed so that near texts lie far apart. */
const fraction = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
