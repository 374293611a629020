import type { Readable } from 'node:stream'
import type { Position } from '../../kernel/ports/event-store.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { Recorded } from './recording.js'
import type { Leave } from './under-way.js'

/** The answer to the client: the JSON of a whole completion, or a stream of events. */
export interface CompletionResponse {
  readonly body: string | Readable
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
  /** The log position of the start or, for a whole completion, of the end. */
  readonly position: Position | undefined
}

/** A completion that has begun. */
export interface Completing {
  readonly call: Recorded
  readonly promptTokens: number
  /** By the clock of `performance`, in milliseconds. */
  readonly startedAt: number
  readonly leave: Leave
  /** Facts for the summary of the call so far: latency in milliseconds, upstream, tries. */
  readonly said: () => JsonObject
}
