import type { Timeouts } from '../upstream/content.js'

/** What is asked of an upstream. */
export interface UpstreamRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Posted; null for a GET. */
  readonly body: string | null
  /** Each counted to the millisecond: the time-outs of a slow reader's answer stand still but for the total. */
  readonly timeouts: Timeouts
  /** Whether the address has to be one that anybody's upstream may have; the operator's own are trusted. */
  readonly isGuarded: boolean
  /** Whether it goes over a connection of its own, for one that a kept connection lost. */
  readonly isFresh: boolean
}

export interface UpstreamAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Read once, at the reader's pace; fails with an `UpstreamFault`. Leaving it early closes the connection. */
  readonly body: AsyncIterable<Uint8Array>
  /** What became of it once nothing more will come; never rejects. `left` is by the reader. */
  readonly ended: Promise<Ended>
}

export type Ended = 'complete' | 'left' | UpstreamFault

export type FaultKind =
  | 'forbidden-address'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'reset'
  | 'protocol'
  | 'timeout'
  /** By the caller's signal. */
  | 'aborted'

/** The `code` of a reset by which a connection that was kept turned out to be closed, before any of an answer came. */
export const KEPT_CONNECTION = 'kept connection'

/** The `code` of a time-out of an answer that was held up by whoever reads it. */
export const SLOW_READER = 'slow reader'

/** The `code` of one that its caller gave up before anything of it was sent. */
export const BEFORE_ASKED = 'before it was asked'

/** What went wrong on the way to an upstream or back; never quotes what was received. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault'
  constructor(
    readonly kind: FaultKind,
    /** Which time-out, or the system's name of the error. */
    readonly code: string,
    options?: ErrorOptions,
  ) {
    super(`${kind} ${code}`, options)
  }

  /** Whether the upstream may have worked on the request: it was sent, over a connection that took it. */
  get mayHaveWorked(): boolean {
    switch (this.kind) {
      case 'forbidden-address':
      case 'dns':
      case 'connect':
      case 'tls':
        return false
      case 'reset':
        return this.code !== KEPT_CONNECTION
      case 'timeout':
        return this.code !== 'connect'
      case 'aborted':
        return this.code !== BEFORE_ASKED
      case 'protocol':
        return true
      default:
        return this.kind satisfies never
    }
  }
}

/** Asks once: follows no redirect, repeats nothing. Before a head is there it fails with an `UpstreamFault`. */
export interface UpstreamClient {
  ask(request: UpstreamRequest, signal?: AbortSignal): Promise<UpstreamAnswer>
  close(): Promise<void>
}
