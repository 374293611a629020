import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  concurrencyLimits,
  DEFAULT_LIMITS,
  type SlotRequest,
} from '../../../../src/dispatch/webhooks/concurrency-limits.js'

const slotRequest = fc.record({
  webhook: fc.constantFrom('v', 'w'),
  team: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  host: fc.integer({ min: 1, max: 20 }).map((port) => `h:${port}`),
  hangs: fc.boolean(),
})

describe('the concurrency limits of attempts', () => {
  it('are never exceeded, and all slots are free again once released', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(slotRequest, fc.boolean()), { maxLength: 600 }), (steps) => {
        const limits = concurrencyLimits()
        const taken: [SlotRequest, () => void][] = []
        for (const [request, isRelease] of steps) {
          if (isRelease) taken.pop()?.[1]()
          if (limits.hasRoom(request)) taken.push([request, limits.acquire(request)])
          const count = (matches: (held: SlotRequest) => boolean) =>
            taken.filter(([held]) => matches(held)).length
          const { team, host, webhook } = request
          assert.ok(taken.length <= DEFAULT_LIMITS.all)
          assert.ok(count((held) => held.team === team) <= DEFAULT_LIMITS.team)
          assert.ok(count((held) => held.team === team && held.host === host) <= DEFAULT_LIMITS.teamAndHost)
          assert.ok(count(({ hangs }) => hangs) <= DEFAULT_LIMITS.hanging)
          assert.equal(
            limits.of(webhook),
            count((held) => held.webhook === webhook),
          )
        }
        for (const [, release] of taken) release()
        assert.equal(limits.of('v') + limits.of('w'), 0)
        assert.ok(!limits.isTeamFull('a'))
      }),
      { numRuns: 30 },
    ))

  it('keep slots free while hundreds of endpoints hang', () => {
    const limits = concurrencyLimits()
    let taken = 0
    for (let index = 0; index < 600; index += 1) {
      const request = { webhook: `w-${index}`, team: `t${index % 20}`, host: `h:${index}`, hangs: true }
      if (!limits.hasRoom(request)) continue
      limits.acquire(request)
      taken += 1
    }
    assert.equal(taken, 64)
    assert.ok(limits.hasRoom({ webhook: 'w', team: 't', host: 'h', hangs: false }))
  })
})
