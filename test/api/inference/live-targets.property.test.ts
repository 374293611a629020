import assert from 'node:assert/strict'
import fc from 'fast-check'
import { LiveTargets, type Visit } from '../../../src/api/inference/upstreams/live-targets.js'
import type { Shown } from '../../../src/domain/upstream/health.js'
import type { Target } from '../../../src/domain/upstream/offered.js'
import { aContent, aModel } from '../../domain/upstream/given.js'

const targetOf = (concurrency: number | null, place: number): Target => {
  const model = aModel('chat', { concurrency })
  const content = aContent({ models: [model], probe: true })
  return { model, upstream: { id: String(place), team: null, content } }
}

const step = fc.record({
  kind: fc.constantFrom('ask', 'ask', 'end', 'leave'),
  what: fc.constantFrom<Shown>('answer', 'fault', 'nothing'),
  after: fc.nat(20_000),
  which: fc.nat(50),
})

describe('the targets of this process', () => {
  it('never have more under way than they take, give all room back, and are never all out', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(fc.integer({ min: 1, max: 3 })), { minLength: 1, maxLength: 3 }),
        fc.array(step, { maxLength: 60 }),
        async (concurrencies, steps) => {
          let now = 0
          const live = new LiveTargets(
            () => now,
            () => 0.5,
          )
          const targets = concurrencies.map(targetOf)
          const visits: Visit[] = []
          const waiting: AbortController[] = []
          const settled: Promise<unknown>[] = []
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
          for (const { kind, what, after, which } of steps) {
            now += after
            if (kind === 'ask') ask()
            else if (kind === 'leave') waiting[which % waiting.length]?.abort()
            else {
              const [visit] = visits.splice(which % Math.max(visits.length, 1), 1)
              if (what === 'answer') visit?.begin()
              visit?.end(what)
              visit?.end('fault')
            }
            await new Promise(setImmediate)
            for (const target of targets) {
              const { inFlight } = live.standingOf(target)
              const { concurrency } = target.model
              assert.equal(inFlight, visits.filter((one) => one.target === target).length)
              assert.ok(concurrency === null || inFlight <= concurrency)
            }
            assert.ok(targets.some((one) => live.standingOf(one).health.out === null))
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
    const live = new LiveTargets(
      () => 0,
      () => 0.5,
    )
    const targets = [targetOf(1, 0)]
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

  it('do without one whose probe found nobody only where there is another', () => {
    const live = new LiveTargets(
      () => 0,
      () => 0.5,
    )
    const targets = [targetOf(null, 0), targetOf(null, 1)]
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
