import assert from 'node:assert/strict'
import fc from 'fast-check'
import { TargetStates, type Lease } from '../../../src/gateway/upstreams/target-states.js'
import type { RequestOutcome } from '../../../src/domain/gateway/upstreams/health.js'
import type { Target } from '../../../src/domain/gateway/upstreams/offered.js'
import { aContent, aModel } from '../../unit/domain/gateway/upstreams/given.js'

const targetOf = (concurrency: number | null, place: number): Target => {
  const model = aModel('chat', { concurrency })
  const content = aContent({ models: [model] })
  return { model, upstream: { id: String(place), team: null, content } }
}

const arbitraryConcurrency = fc.option(fc.integer({ min: 1, max: 3 }))

const step = fc.record({
  kind: fc.constantFrom('ask', 'ask', 'ask', 'end', 'end', 'leave', 'change', 'withdraw'),
  concurrency: arbitraryConcurrency,
  what: fc.constantFrom<RequestOutcome>('answer', 'fault', 'nothing'),
  after: fc.nat(20_000),
  which: fc.nat(50),
})

/** The targets of a process, which has them offered as they are here. */
const offering = (targets: readonly Target[], now: () => number = () => 0) => {
  const offered = new Map(targets.map(({ upstream: { id }, model }) => [id, model]))
  const states = new TargetStates(
    now,
    () => 0.5,
    (id) => offered.get(id),
  )
  return { states, offered }
}

describe('the targets of this process', () => {
  it('never let in more than they take now, keep nobody waiting for room that there is, and give it all back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryConcurrency, { minLength: 1, maxLength: 3 }),
        fc.array(step, { maxLength: 60 }),
        async (concurrencies, steps) => {
          let now = 0
          const targets = concurrencies.map(targetOf)
          const { states, offered } = offering(targets, () => now)
          const leases: Lease[] = []
          const waiting: AbortController[] = []
          const settled: Promise<unknown>[] = []
          const hasRoom = ({ upstream: { id } }: Target, inFlight: number) => {
            const model = offered.get(id)
            return model !== undefined && (model.concurrency === null || inFlight < model.concurrency)
          }
          const ask = () => {
            const order = states.inOrder(targets)
            assert.ok(order.length > 0)
            const lease = states.enter(order, targets)
            if (lease !== undefined) return void leases.push(lease)
            const gone = new AbortController()
            waiting.push(gone)
            settled.push(
              states.wait(order, targets, 60_000, gone.signal).then((granted) => {
                waiting.splice(waiting.indexOf(gone), 1)
                if (granted !== undefined) leases.push(granted)
              }),
            )
          }
          for (const { kind, what, after, which, concurrency } of steps) {
            now += after
            const before = targets.map((target) => states.stateOf(target).inFlight)
            const place = which % targets.length
            const { id } = targets[place]!.upstream
            if (kind === 'ask') ask()
            else if (kind === 'leave') waiting[which % waiting.length]?.abort()
            else if (kind === 'change' || kind === 'withdraw') {
              if (kind === 'change') offered.set(id, { ...targets[place]!.model, concurrency })
              else offered.delete(id)
              states.directoryChanged()
            } else {
              const [lease] = leases.splice(which % Math.max(leases.length, 1), 1)
              if (what === 'answer') lease?.begin()
              lease?.end(what)
              lease?.end('fault')
            }
            await new Promise(setImmediate)
            for (const [at, target] of targets.entries()) {
              const { inFlight } = states.stateOf(target)
              assert.equal(inFlight, leases.filter((one) => one.target === target).length)
              assert.ok(inFlight <= before[at]! || hasRoom(target, inFlight - 1))
              assert.ok(waiting.length === 0 || !hasRoom(target, inFlight))
            }
            if (offered.size === 0) assert.equal(waiting.length, 0)
            assert.ok(targets.some((one) => states.stateOf(one).health.phase === 'closed'))
          }
          for (const gone of [...waiting]) gone.abort()
          await Promise.all(settled)
          for (const lease of leases) lease.end('nothing')
          for (const target of targets) assert.equal(states.stateOf(target).inFlight, 0)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('give room to those who wait in the order in which they came', async () => {
    const targets = [targetOf(1, 0)]
    const { states } = offering(targets)
    const { signal } = new AbortController()
    let current = states.enter(targets, targets)!
    const order: number[] = []
    const waits = [1, 2, 3].map((place) =>
      states.wait(targets, targets, 60_000, signal).then((lease) => {
        order.push(place)
        current = lease!
      }),
    )
    for (const wait of waits) {
      current.end('answer')
      await wait
    }
    assert.deepEqual(order, [1, 2, 3])
  })

  it('forget how one did that is offered no more, once nothing of it is under way', () => {
    const targets = [targetOf(null, 0), targetOf(null, 1)]
    const { states, offered } = offering(targets)
    for (let fault = 0; fault < 5; fault += 1) states.enter(targets, targets)?.end('fault')
    assert.equal(states.open, 1)
    offered.delete('0')
    states.directoryChanged()
    assert.equal(states.open, 0)
  })
})
