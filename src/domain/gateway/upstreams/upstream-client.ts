import type { Timeouts } from './content.js'
import type { Upstream } from './directory.js'

/** The address of an endpoint of an upstream. */
export const addressOf = (
  { content: { base_url } }: Upstream,
  path: string,
  query: Readonly<Record<string, string>>,
): string => {
  const parameters = new URLSearchParams(query).toString()
  return `${base_url.replace(/\/+$/, '')}/${path}${parameters === '' ? '' : `?${parameters}`}`
}

/** Hosts behind a filter refuse requests without one. */
export const USER_AGENT = 'Tallytree'

/** A request to an upstream. */
export interface UpstreamRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The body of a POST; null for a GET. */
  readonly body: string | null
  /** In milliseconds. While a slow reader blocks the response, only the total time-out runs. */
  readonly timeouts: Timeouts
  /** Whether the SSRF guard applies. The operator's own upstreams are exempt. */
  readonly isGuarded: boolean
  /** Whether to open a new connection. */
  readonly isFresh: boolean
}

export interface UpstreamAnswer {
  readonly status: number
  /** When the request was sent, by the clock of `performance`, in milliseconds. */
  readonly sentAt: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Readable once, with backpressure; fails with an `UpstreamFault`. Stopping early closes the connection. */
  readonly body: AsyncIterable<Uint8Array>
  /** Resolves when the response is over; never rejects. `left`: the reader stopped early. */
  readonly ended: Promise<UpstreamEnd>
  /** Ends the response, with this fault. */
  readonly giveUp: (fault: UpstreamFault) => void
}

export type UpstreamEnd = 'complete' | 'left' | UpstreamFault

export type FaultKind =
  | 'forbidden-address'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'reset'
  | 'protocol'
  | 'timeout'
  /** The caller's signal. */
  | 'aborted'

/** `code` of a time-out caused by a slow reader. */
export const SLOW_READER = 'slow reader'

/** `code` of a request aborted before anything was sent. */
export const BEFORE_ASKED = 'before it was asked'

/** A failed upstream request. Never quotes the response. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault'
  constructor(
    readonly kind: FaultKind,
    /** The time-out that fired, or the system's error code. */
    readonly code: string,
    options?: ErrorOptions,
  ) {
    super(`${kind} ${code}`, options)
  }

  /** Whether the upstream may have processed the request: it was sent on an established connection. */
  get mayHaveWorked(): boolean {
    switch (this.kind) {
      case 'forbidden-address':
      case 'dns':
      case 'connect':
      case 'tls':
        return false
      case 'timeout':
        return this.code !== 'connect'
      case 'aborted':
        return this.code !== BEFORE_ASKED
      case 'reset':
      case 'protocol':
        return true
      default:
        return this.kind satisfies never
    }
  }
}

/** Sends one request, without redirects or retries. Throws an `UpstreamFault` if no response head arrives. */
export interface UpstreamClient {
  ask(request: UpstreamRequest, signal?: AbortSignal): Promise<UpstreamAnswer>
  close(): Promise<void>
}
