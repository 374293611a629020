import assert from 'node:assert/strict'
import { chat } from '../../../src/gateway/endpoints/chat.js'
import { admission } from '../../../src/gateway/limits/admission.js'
import { Failure } from '../../../src/application/failure.js'
import { Ledger } from '../../../src/domain/gateway/limits/ledger.js'
import { Limiter } from '../../../src/domain/gateway/limits/limiter.js'
import type { LimitContent } from '../../../src/domain/gateway/limits/content.js'
import { scopeText, TEAM } from '../../../src/domain/gateway/limits/scope.js'
import { aContent, aModel } from '../../unit/domain/gateway/upstreams/given.js'

const HOUR_MS = 3_600_000

describe('letting completions through', () => {
  const given = (limit: Partial<LimitContent>) => {
    let now = Date.parse('2026-11-21T12:00:00Z')
    const ledger = new Ledger()
    const none = { requests_per_minute: null, tokens_per_minute: null, concurrency: null, budget: null }
    const limited = { scope: TEAM, content: { ...none, ...limit }, reached: [] }
    const admit = admission({
      clock: { now: () => new Date(now) },
      follower: {
        isReady: () => true,
        progress: () => ({ position: 0n, head: 0n }),
        limitsOf: () => new Map([[scopeText(TEAM), limited]]),
      },
      limiter: new Limiter(ledger, 1, () => performance.now()),
      instance: 'this',
      onBudgetExceeded: () => undefined,
    })
    const model = aModel('chat')
    const target = { model, upstream: { id: 'one', team: null, content: aContent({ models: [model] }) } }
    let calls = 0
    return {
      set: (ms: number) => void (now += ms),
      ask: (): 'admitted' | Failure => {
        try {
          admit({
            id: `c${(calls += 1)}`,
            project: 'team/project',
            keyId: 'key',
            prompt: { estimate: 1, most: 1 },
            request: { endpoint: chat, given: {} },
            targets: [target],
          })
          return 'admitted'
        } catch (error) {
          assert.ok(error instanceof Failure)
          return error
        }
      },
    }
  }

  for (const hours of [-5, 5])
    it(`goes by how long ago it was, also where the clock is set by ${hours} hours`, () => {
      const { ask, set } = given({ requests_per_minute: 2 })
      assert.equal(ask(), 'admitted')
      set(hours * HOUR_MS)
      assert.equal(ask(), 'admitted')
      set(hours * HOUR_MS)
      const refused = ask()
      assert.ok(refused instanceof Failure)
      assert.equal(refused.kind, 'rate-limited')
      const { retryAfter, body } = refused.details
      assert.ok(retryAfter !== undefined && retryAfter > 50 && retryAfter <= 60, String(retryAfter))
      const { frees_at } = body!['limit'] as { frees_at: string }
      const inMs = Date.parse(frees_at) - (Date.parse('2026-11-21T12:00:00Z') + 2 * hours * HOUR_MS)
      assert.ok(inMs > 50_000 && inMs <= 60_000, String(inMs))
    })
})
