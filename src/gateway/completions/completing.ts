import type { JsonObject } from '../../kernel/json/json.js'
import type { Recorded } from './recording.js'
import type { Leave } from './under-way.js'

/** A completion that has begun. */
export interface Completing {
  readonly call: Recorded
  /** The public id of its model. */
  readonly model: string
  readonly promptTokens: number
  /** By the clock of `performance`, in milliseconds. */
  readonly startedAt: number
  readonly leave: Leave
  /** What the end of the call says of how it went so far: times in milliseconds, upstream, tries. */
  readonly said: () => JsonObject
}
