const SECOND = 1000
const MINUTE = 60
const HOUR = 3600

/** Default retry delays in seconds: 76.7 hours in all. */
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

/** Age at which a delivery is given up, without the time it was held up, in milliseconds. */
export const MAX_AGE_MS = 5 * 24 * HOUR * SECOND

const JITTER = 0.2

/** Input of the retry delay. The jitter is derived from the ids, so that a restart does not change it. */
export interface RetryStep {
  readonly deliveryId: string
  readonly attempt: number
  /** Failed attempts since it was scheduled or re-sent. */
  readonly failures: number
  /** In seconds; null for the default. */
  readonly waitsS: readonly number[] | null
}

/** The delay before the next attempt in milliseconds, ±20 % jitter; undefined if no retry is left. */
export const waitAfter = ({ deliveryId, attempt, failures, waitsS }: RetryStep): number | undefined => {
  const wait = (waitsS ?? USUAL_WAITS_S)[failures - 1]
  return wait === undefined ? undefined : spread(wait, deliveryId, attempt)
}

/** The delay after an attempt of unknown outcome, in milliseconds. */
export const waitAfterUnknown = ({ deliveryId, attempt, waitsS }: Omit<RetryStep, 'failures'>): number =>
  spread(waitsS?.[0] ?? USUAL_WAITS_S[0]!, deliveryId, attempt)

const spread = (waitS: number, deliveryId: string, attempt: number): number =>
  Math.round(waitS * SECOND * (1 + JITTER * (2 * fraction(`${deliveryId}/${attempt}`) - 1)))

/** A hash of the text in [0, 1): FNV-1a with a mixer, so that similar texts differ. */
const fraction = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
