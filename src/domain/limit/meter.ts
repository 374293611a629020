import type { LimitContent } from './content.js'
import type { Members } from './under-way.js'
import { SlidingWindow, type Taken } from './windows.js'

const MINUTE_MS = 60_000
const MOST_CALLS = 5

export type Rate = 'requests_per_minute' | 'tokens_per_minute' | 'concurrency'

/** A rate that leaves no room, in figures of this process. */
export interface RateExceeded {
  readonly rate: Rate
  readonly most: number
  readonly used: number
  readonly asked: number
  /** When there is room again, in milliseconds from now; null where nobody knows, infinity where it never will be. */
  readonly freesInMs: number | null
  /** Streams of the last calls behind it, the newest first. */
  readonly calls: readonly string[]
}

/** What was let through a scope in the last minute, in this process. */
export class Meter {
  private readonly requests = new SlidingWindow(MINUTE_MS)
  private readonly tokens = new SlidingWindow(MINUTE_MS)

  /** The first rate of a limit that has no room for a completion of so many tokens beside those under way. */
  exceeded(
    limit: LimitContent,
    processes: number,
    now: number,
    tokens: number,
    underWay: Members,
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

  enter(now: number, tokens: number, call: string): Passage {
    return {
      request: this.requests.take(now, 1, call),
      tokens: this.tokens.take(now, tokens, call),
    }
  }

  /** It used so many tokens after all; null for a completion that never began. */
  leave({ request, tokens }: Passage, used: number | null): void {
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

const busy = (most: number | null, underWay: Members): RateExceeded | undefined => {
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

/** What a completion took of a meter. */
export interface Passage {
  readonly request: Taken
  readonly tokens: Taken
}

/** What of a rate a process may use: an equal share, and one at the least. */
const shareOf = (rate: number | null, processes: number): number | null =>
  rate === null ? null : Math.max(1, Math.floor(rate / processes))
