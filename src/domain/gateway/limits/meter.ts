import type { LimitContent } from './content.js'
import type { CallStreams } from './calls-in-flight.js'
import { SlidingWindow, type WindowEntry } from './windows.js'

const MINUTE_MS = 60_000
const MOST_CALLS = 5

export type Rate = 'requests_per_minute' | 'tokens_per_minute' | 'concurrency'

/** An exceeded rate, in figures of this process. */
export interface RateExceeded {
  readonly rate: Rate
  readonly most: number
  readonly used: number
  readonly asked: number
  /** Milliseconds until there is room; null if unknown, infinity if never. */
  readonly freesInMs: number | null
  /** Streams of the newest calls counted, newest first. */
  readonly calls: readonly string[]
}

/** Usage of a scope in the last minute, in this process. */
export class Meter {
  private readonly requests = new SlidingWindow(MINUTE_MS)
  private readonly tokens = new SlidingWindow(MINUTE_MS)

  /** The first rate that a completion would exceed. */
  exceeded(
    limit: LimitContent,
    processes: number,
    now: number,
    tokens: number,
    underWay: CallStreams,
  ): RateExceeded | undefined {
    return (
      this.full(
        'requests_per_minute',
        this.requests,
        shareOf(limit.requests_per_minute, processes),
        now,
        1,
      ) ??
      this.full('tokens_per_minute', this.tokens, shareOf(limit.tokens_per_minute, processes), now, tokens) ??
      busy(shareOf(limit.concurrency, processes), underWay)
    )
  }

  enter(now: number, tokens: number, call: string): MeterEntry {
    return { request: this.requests.take(now, 1, call), tokens: this.tokens.take(now, tokens, call) }
  }

  /** Corrects the reserved tokens to those used; null for a completion that never started. */
  leave({ request, tokens }: MeterEntry, used: number | null): void {
    this.tokens.settle(tokens, used ?? 0)
    if (used === null) this.requests.settle(request, 0)
  }

  used(now: number): { readonly requests: number; readonly tokens: number } {
    return { requests: this.requests.used(now), tokens: this.tokens.used(now) }
  }

  private full(
    rate: Rate,
    window: SlidingWindow,
    most: number | null,
    now: number,
    asked: number,
  ): RateExceeded | undefined {
    const freesAt = most === null ? undefined : window.freesAt(now, asked, most)
    return most === null || freesAt === undefined
      ? undefined
      : {
          rate,
          most,
          used: window.used(now),
          asked,
          freesInMs: freesAt - now,
          calls: window.lastCalls(MOST_CALLS),
        }
  }
}

const busy = (most: number | null, underWay: CallStreams): RateExceeded | undefined => {
  const used = underWay.size
  return most === null || used < most
    ? undefined
    : {
        rate: 'concurrency',
        most,
        used,
        asked: 1,
        freesInMs: null,
        calls: [...underWay].slice(-MOST_CALLS).reverse(),
      }
}

/** What a completion occupies in a meter. */
export interface MeterEntry {
  readonly request: WindowEntry
  readonly tokens: WindowEntry
}

/** This process's share of a rate, at least 1. */
const shareOf = (rate: number | null, processes: number): number | null =>
  rate === null ? null : Math.max(1, Math.floor(rate / processes))
