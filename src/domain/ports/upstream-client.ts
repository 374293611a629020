import type { Timeouts } from '../upstream/content.js'

/** A completion as it is asked of an upstream. */
export interface UpstreamRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeouts: Timeouts
  /** Whether the address has to be one that anybody's upstream may have; the operator's own are trusted. */
  readonly isGuarded: boolean
}

export interface UpstreamAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Read once, at the reader's pace; fails with an `UpstreamFault`. Leaving it early closes the connection. */
  readonly body: AsyncIterable<Uint8Array>
}

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
}

/** Asks once: follows no redirect, repeats nothing. Before a head is there it fails with an `UpstreamFault`. */
export interface UpstreamClient {
  post(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>
  close(): Promise<void>
}
