import assert from 'node:assert/strict'
import { rateHeaders } from '../../../../src/gateway/limits/rate-headers.js'

describe('rate limit headers', () => {
  const now = new Date('2026-11-29T23:59:59.900Z')
  const left = [
    { rate: 'requests_per_minute', limit: 10, remaining: 3, resetMs: 59_500.2 },
    { rate: 'tokens_per_minute', limit: 1000, remaining: 0, resetMs: 100 },
  ] as const

  it('have OpenAI’s names and durations by default', () => {
    assert.deepEqual(rateHeaders(left, now), {
      'x-ratelimit-limit-requests': '10',
      'x-ratelimit-remaining-requests': '3',
      'x-ratelimit-reset-requests': '59.501s',
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '0.1s',
    })
  })

  it('have Anthropic’s names and times', () => {
    assert.deepEqual(rateHeaders(left, now, 'anthropic'), {
      'anthropic-ratelimit-requests-limit': '10',
      'anthropic-ratelimit-requests-remaining': '3',
      'anthropic-ratelimit-requests-reset': '2026-11-30T00:01:00Z',
      'anthropic-ratelimit-tokens-limit': '1000',
      'anthropic-ratelimit-tokens-remaining': '0',
      'anthropic-ratelimit-tokens-reset': '2026-11-30T00:00:00Z',
    })
  })
})
