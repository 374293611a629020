import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { DeliveryCommand } from '../../../../../src/domain/webhooks/deliveries/commands.js'
import { deliveryDecider } from '../../../../../src/domain/webhooks/deliveries/decider.js'
import type { DeliveryEvent } from '../../../../../src/domain/webhooks/deliveries/events.js'
import { MAX_AGE_MS, USUAL_WAITS_S } from '../../../../../src/domain/webhooks/deliveries/retrying.js'
import type { DeliveryState } from '../../../../../src/domain/webhooks/deliveries/state.js'
import { webhookProblems } from '../../../../../src/domain/webhooks/checks.js'
import { after, aScheduled, at, finishing, observed, START } from './arbitrary.js'

const { decide } = deliveryDecider

const scheduling: DeliveryCommand = { type: 'ScheduleDelivery', delivery: aScheduled() }
const starting = (millis: number, instance = 'one'): DeliveryCommand => ({
  type: 'StartAttempt',
  deliveryId: 'dlv_1',
  instance,
  startedAt: at(millis),
  deadlineAt: at(millis + 20_000),
  webhookRevision: 0,
})

/** Runs commands one after another; those that are refused leave no trace. */
const given = (...commands: readonly DeliveryCommand[]): DeliveryState =>
  commands.reduce((state, command) => after(decide(state, command).events, state), after([]))

const phaseOf = (state: DeliveryState) => state.phase

describe('the decider of deliveries', () => {
  it('schedules once, whoever repeats it', () => {
    assert.equal(decide(after([]), scheduling).events.length, 1)
    assert.deepEqual(decide(given(scheduling), scheduling), { events: [] })
  })

  it('writes three events for one that arrives at once', () => {
    const finish = finishing(1, 100, {
      verdict: { result: 'succeeded' },
      observed: observed({ status: 204 }),
    })
    const state = given(scheduling, starting(0), finish)
    assert.equal(phaseOf(state), 'succeeded')
    assert.ok(decide(state, starting(200)).refused)
  })

  it('lets one attempt at a time begin', () => {
    const inFlight = given(scheduling, starting(0, 'one'))
    assert.deepEqual(decide(inFlight, starting(0, 'two')).refused, {
      kind: 'conflict',
      reason: 'The delivery is in_flight.',
    })
  })

  it('takes the end of the attempt that is under way, and of no other', () => {
    const inFlight = given(scheduling, starting(0))
    assert.ok(decide(inFlight, finishing(2, 100)).refused)
    assert.ok(decide(given(scheduling), finishing(1, 100)).refused)
    assert.equal(decide(inFlight, finishing(1, 100)).events.length, 1)
  })

  it('never tries again before the receiver asked it to', () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_400_000 }), fc.boolean(), (asked, none) => {
        const verdict = { result: 'failed', notBefore: none ? null : at(asked) } as const
        const [event] = decide(given(scheduling, starting(0)), finishing(1, 100, { verdict })).events
        assert.ok(event?.type === 'AttemptFinished' && event.data.next_at !== null)
        const wait = Date.parse(event.data.next_at) - START
        assert.ok(wait >= 4100 && (none || wait >= asked))
        assert.ok(wait <= Math.max(6100, none ? 0 : asked))
      }),
    ))

  it('gives up when the waits are used up, and not before', () => {
    let state = given(scheduling)
    for (let attempt = 1; attempt <= USUAL_WAITS_S.length + 1; attempt += 1) {
      assert.ok(state.phase === 'pending' || state.phase === 'retrying')
      const now = Date.parse(state.dueAt) - START
      state = after(decide(state, starting(now)).events, state)
      state = after(decide(state, finishing(attempt, now + 100)).events, state)
    }
    assert.ok(state.phase === 'dead' && state.reason === 'exhausted')
  })

  it('gives up what waited and was tried for five days, but does not count what others held up', () => {
    const day = 86_400_000
    const waitsS = [86_400, 86_400, 86_400, 86_400, 86_400, 86_400, 86_400]
    const attemptsAfter = (heldMs: number) => {
      let state = given(scheduling)
      while (state.phase === 'pending' || state.phase === 'retrying') {
        const now = Date.parse(state.dueAt) - START + heldMs
        state = after(decide(state, starting(now)).events, state)
        assert.ok(state.phase === 'in_flight')
        state = after(decide(state, finishing(state.attempts, now + 100, { waitsS })).events, state)
      }
      assert.ok(state.phase === 'dead')
      return { reason: state.reason, attempts: state.attempts, age: state.age <= MAX_AGE_MS }
    }
    assert.equal(attemptsAfter(0).reason, 'too_old')
    assert.deepEqual(attemptsAfter(10 * day), attemptsAfter(0))
  })

  it('tries again after the longest wait that a webhook may have, however that turns out', () => {
    const webhook = { name: 'w', url: 'http://a/', access_token: null, secret: null, timeout_s: null }
    const problemsOf = (wait: number) =>
      webhookProblems({
        ...webhook,
        stop_on_4xx: null,
        max_per_minute: null,
        headers: null,
        retry_waits_s: [wait],
      })
    const longest = 4 * 86_400
    assert.equal(problemsOf(longest).length, 0)
    assert.equal(problemsOf(longest + 1).length, 1)
    const started = given(scheduling, starting(0))
    for (let n = 0; n < 200; n += 1) {
      const finish = { ...finishing(1, 100, { waitsS: [longest] }), deliveryId: `dlv_${n}` }
      const [finished] = decide(started, finish).events
      assert.ok(finished?.type === 'AttemptFinished' && finished.data.outcome === 'retry', String(n))
    }
  })

  it('tries what got lost after the first wait, and says that it may be there already', () => {
    const lost = given(scheduling, starting(0), {
      type: 'LoseAttempt',
      deliveryId: 'dlv_1',
      attempt: 1,
      now: at(1000),
      waitsS: null,
    })
    assert.ok(lost.phase === 'retrying' && lost.maybeArrived && lost.failures === 0)
    assert.equal(lost.since, at(1000))
    const wait = Date.parse(lost.dueAt) - START - 1000
    assert.ok(wait >= 4000 && wait <= 6000)
    const [started] = decide(lost, starting(7000)).events
    assert.ok(started?.type === 'AttemptStarted' && started.data.possible_duplicate)
  })

  it('says that it may be there already after a time-out behind the body, not after an answer', () => {
    const timedOut = finishing(1, 100, { observed: observed({ status: null, error: 'timeout' }) })
    const before = finishing(1, 100, { observed: observed({ status: null, body_sent: false }) })
    for (const [finish, mark] of [
      [timedOut, true],
      [before, false],
      [finishing(1, 100), false],
    ] as const) {
      const [started] = decide(given(scheduling, starting(0), finish), starting(10_000)).events
      assert.ok(started?.type === 'AttemptStarted' && started.data.possible_duplicate === mark)
    }
  })

  it('sends again under a new number, from the first wait, with a mark where it had arrived', () => {
    const succeeded = finishing(1, 100, { verdict: { result: 'succeeded' } })
    const state = given(scheduling, starting(0), succeeded, {
      type: 'ResendDelivery',
      deliveryId: 'dlv_1',
      now: at(5000),
    })
    assert.ok(state.phase === 'pending' && state.failures === 0)
    const [started] = decide(state, starting(5000)).events
    assert.ok(
      started?.type === 'AttemptStarted' && started.data.possible_duplicate && started.data.attempt === 2,
    )
  })

  it('keeps its laws whatever happens in whatever order', () => {
    const command = fc.oneof(
      fc.constant(scheduling),
      fc.nat(1e6).map((millis) => starting(millis)),
      fc
        .tuple(fc.integer({ min: 1, max: 4 }), fc.nat(1e6))
        .map(([attempt, millis]) => finishing(attempt, millis)),
      fc
        .integer({ min: 1, max: 4 })
        .map((attempt) => finishing(attempt, 1, { verdict: { result: 'succeeded' } })),
      fc
        .integer({ min: 1, max: 4 })
        .map((attempt): DeliveryCommand => ({
          type: 'LoseAttempt',
          deliveryId: 'dlv_1',
          attempt,
          now: at(1),
          waitsS: null,
        })),
      fc.constant<DeliveryCommand>({ type: 'CancelDelivery', deliveryId: 'dlv_1', reason: 'by_hand' }),
      fc.constant<DeliveryCommand>({ type: 'ResendDelivery', deliveryId: 'dlv_1', now: at(9) }),
    )
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        let state = after([])
        const log: DeliveryEvent[] = []
        for (const one of commands) {
          const { events } = decide(state, one)
          log.push(...events)
          state = after(events, state)
        }
        const types = log.map(({ type }) => type)
        assert.ok(types.filter((type) => type === 'DeliveryScheduled').length <= 1)
        const numbers = log.flatMap((event) => (event.type === 'AttemptStarted' ? [event.data.attempt] : []))
        assert.deepEqual(
          numbers,
          numbers.map((_, index) => index + 1),
        )
        types.forEach((type, index) => {
          if (type === 'AttemptFinished' || type === 'AttemptOutcomeUnknown')
            assert.equal(types[index - 1], 'AttemptStarted')
        })
      }),
    )
  })
})
