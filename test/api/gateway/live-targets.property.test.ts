import assert from 'node:assert/strict'
import fc from 'fast-check'
import { LiveTargets, type Visit } from '../../../src/gateway/upstreams/live-targets.js'
import type { RequestOutcome } from '../../../src/domain/gateway/upstreams/health.js'
import type { Target } from '../../../src/domain/gateway/upstreams/offered.js'
import { aContent, aModel } from '../../unit/domain/gateway/upstreams/given.js'

const targetOf = (concurrency: number | null, place: number): Target => {
  const model = aModel('chat', { concurrency })
  const content = aContent({ models: [model], probe: true })
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
  const live = new LiveTargets(
    now,
    () => 0.5,
    (id) => offered.get(id),
  )
  return { live, offered }
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
          const { live, offered } = offering(targets, () => now)
          const visits: Visit[] = []
          const waiting: AbortController[] = []
          const settled: Promise<unknown>[] = []
          const hasRoom = ({ upstream: { id } }: Target, inFlight: number) => {
            const model = offered.get(id)
            return model !== undefined && (model.concurrency === null || inFlight < model.concurrency)
          }
          const ask = () => {
            const order = live.inOrder(targets)
            assert.ok(order.length > 0)
            const visit = live.enter(order, targets)
            if (visit !== undefined) return void visits.push(visit)
            const gone = new AbortController()
            waiting.push(gone)
            settled.push(
              live.wait(order, targets, 60_000, gone.signal).then((granted) => {
                waiting.splice(waiting.indexOf(gone), 1)
                if (granted !== undefined) visits.push(granted)
              }),
            )
          }
          for (const { kind, what, after, which, concurrency } of steps) {
            now += after
            const before = targets.map((target) => live.standingOf(target).inFlight)
            const place = which % targets.length
            const { id } = targets[place]!.upstream
            if (kind === 'ask') ask()
            else if (kind === 'leave') waiting[which % waiting.length]?.abort()
            else if (kind === 'change' || kind === 'withdraw') {
              if (kind === 'change') offered.set(id, { ...targets[place]!.model, concurrency })
              else offered.delete(id)
              live.changed()
            } else {
              const [visit] = visits.splice(which % Math.max(visits.length, 1), 1)
              if (what === 'answer') visit?.begin()
              visit?.end(what)
              visit?.end('fault')
            }
            await new Promise(setImmediate)
            for (const [at, target] of targets.entries()) {
              const { inFlight } = live.standingOf(target)
              assert.equal(inFlight, visits.filter((one) => one.target === target).length)
              assert.ok(inFlight <= before[at]! || hasRoom(target, inFlight - 1))
              assert.ok(waiting.length === 0 || !hasRoom(target, inFlight))
            }
            if (offered.size === 0) assert.equal(waiting.length, 0)
            assert.ok(targets.some((one) => live.standingOf(one).health.phase === 'closed'))
          }
          for (const gone of [...waiting]) gone.abort()
          await Promise.all(settled)
          for (const visit of visits) visit.end('nothing')
          for (const target of targets) assert.equal(live.standingOf(target).inFlight, 0)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('give room to those who wait in the order in which they came', async () => {
    const targets = [targetOf(1, 0)]
    const { live } = offering(targets)
    const { signal } = new AbortController()
    let current = live.enter(targets, targets)!
    const order: number[] = []
    const waits = [1, 2, 3].map((place) =>
      live.wait(targets, targets, 60_000, signal).then((visit) => {
        order.push(place)
        current = visit!
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
    const { live, offered } = offering(targets)
    for (let fault = 0; fault < 5; fault += 1) live.enter(targets, targets)?.end('fault')
    assert.equal(live.out, 1)
    offered.delete('0')
    live.changed()
    assert.equal(live.out, 0)
  })

  it('do without one whose probe found nobody only where there is another', () => {
    const targets = [targetOf(null, 0), targetOf(null, 1)]
    const { live } = offering(targets)
    live.found('0', false)
    assert.deepEqual(
      live.inOrder(targets).map(({ upstream }) => upstream.id),
      ['1', '0'],
    )
    const [first, second] = targets as [Target, Target]
    const unprobed = { ...first.upstream, content: { ...first.upstream.content, probe: false } }
    const order = live.inOrder([{ ...first, upstream: unprobed }, second])
    assert.equal(order[0]?.upstream, unprobed, 'what it found counts as long as it is probed')
    live.found('1', false)
    assert.equal(live.inOrder(targets).length, 2)
  })
})
