import type { RateLeft } from '../../domain/gateway/limits/limiter.js'

/** The API whose clients read the headers. */
export type RateHeaderForm = 'openai' | 'anthropic'

const NAMES = { requests_per_minute: 'requests', tokens_per_minute: 'tokens' } as const

/** What is left of the service's own rate limits. */
export const rateHeaders = (
  left: readonly RateLeft[],
  now: Date,
  form: RateHeaderForm = 'openai',
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    left.flatMap(({ rate, limit, remaining, resetMs }) =>
      Object.entries({
        limit: String(limit),
        remaining: String(remaining),
        reset: form === 'openai' ? `${Math.ceil(resetMs) / 1000}s` : secondAt(now.getTime() + resetMs),
      }).map(([what, value]) => [
        form === 'openai'
          ? `x-ratelimit-${what}-${NAMES[rate]}`
          : `anthropic-ratelimit-${NAMES[rate]}-${what}`,
        value,
      ]),
    ),
  )

/** In whole seconds, rounded up (RFC 3339). */
const secondAt = (ms: number): string =>
  `${new Date(Math.ceil(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`
