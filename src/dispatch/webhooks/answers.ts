import type { Instant } from '../../domain/codec/instant.js'
import type { Verdict } from '../../domain/delivery/commands.js'

/** What an answer, or the lack of one, means. */
export interface AnswerRead {
  readonly verdict: Verdict
  /** Its kind in a word or two, without anything that the receiver said; null for a success. */
  readonly error: string | null
  readonly timedOut: boolean
  /** It timed out, or the receiver said that it has too much to do. */
  readonly overloaded: boolean
  /** Before then the endpoint wants nothing at all. */
  readonly throttledUntil: Instant | null
  /** The receiver wants nothing any more. */
  readonly disables: 'gone' | 'receiver_asked' | null
}
