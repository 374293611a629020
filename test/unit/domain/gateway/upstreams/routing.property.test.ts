import assert from 'node:assert/strict'
import fc from 'fast-check'
import { healthy, stateOf, type Health } from '../../../../../src/domain/gateway/upstreams/health.js'
import { inOrder, type Candidate } from '../../../../../src/domain/gateway/upstreams/routing.js'

const NOW = 1_000_000

const health: fc.Arbitrary<Health> = fc.oneof(
  fc.constant(healthy),
  fc.record({
    phase: fc.constantFrom('open', 'probing'),
    failuresInARow: fc.nat(20),
    until: fc.integer({ min: NOW - 10_000, max: NOW + 10_000 }),
    openMs: fc.constant(5000),
  }),
)
const candidates: fc.Arbitrary<readonly Candidate<number>[]> = fc
  .array(fc.record({ weight: fc.nat(3), health }), { minLength: 1, maxLength: 8 })
  .map((all) => all.map((one, target) => ({ ...one, target })))
const draws = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }))

const drawing = (stream: Iterator<number>) => () => stream.next().value as number

describe('the order in which targets are asked', () => {
  it('has at least one target, none twice, and none with an open breaker unless all are open', () => {
    fc.assert(
      fc.property(candidates, draws, (all, stream) => {
        const order = inOrder(all, NOW, drawing(stream))
        assert.ok(order.length > 0)
        assert.equal(new Set(order).size, order.length)
        const states = order.map((target) => stateOf(all[target]!.health, NOW))
        if (states.includes('open')) assert.ok(all.every((one) => stateOf(one.health, NOW) === 'open'))
        assert.ok(states.filter((one) => one === 'half-open').length <= 1)
        assert.ok(states.indexOf('half-open') <= 0)
      }),
    )
  })

  it('has those without weight last', () => {
    fc.assert(
      fc.property(candidates, draws, (all, stream) => {
        const order = inOrder(all, NOW, drawing(stream))
          .map((target) => all[target]!)
          .filter((one) => one.health.phase === 'closed')
        const ranks = order.map((one) => (one.weight > 0 ? 0 : 1))
        assert.deepEqual(ranks, ranks.toSorted())
      }),
    )
  })

  it('begins with each in proportion to its weight', () => {
    let seed = 7
    const draw = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
    const all = [1, 2, 5, 0].map((weight, target) => ({ target, weight, health: healthy }))
    const firsts = [0, 0, 0, 0]
    const rounds = 16_000
    for (let round = 0; round < rounds; round += 1) firsts[inOrder(all, NOW, draw)[0]!]! += 1
    firsts.forEach((count, target) => {
      const expected = (rounds * all[target]!.weight) / 8
      assert.ok(Math.abs(count - expected) <= rounds * 0.02, `${target}: ${count}`)
    })
  })
})
