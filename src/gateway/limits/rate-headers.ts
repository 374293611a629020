import type { RateLeft } from '../../domain/gateway/limits/limiter.js'

const NAMES = { requests_per_minute: 'requests', tokens_per_minute: 'tokens' } as const

/** What is left of the service's own rate limits, in the headers of OpenAI. Durations such as `59.5s`. */
export const rateHeaders = (left: readonly RateLeft[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    left.flatMap(({ rate, limit, remaining, resetMs }) => [
      [`x-ratelimit-limit-${NAMES[rate]}`, String(limit)],
      [`x-ratelimit-remaining-${NAMES[rate]}`, String(remaining)],
      [`x-ratelimit-reset-${NAMES[rate]}`, `${Math.ceil(resetMs) / 1000}s`],
    ]),
  )
