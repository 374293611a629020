import assert from 'node:assert/strict'
import fc from 'fast-check'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import { execute } from '../../../../src/kernel/execute.js'
import type { RunCommand } from '../../../../src/domain/runs/commands.js'
import { runDecider } from '../../../../src/domain/runs/decider.js'
import { endState, runEvents, runStream, type RunEvent } from '../../../../src/domain/runs/events.js'
import { runCache, LoggedSteps } from '../../../../src/application/runs/run-cache.js'

const { initialState, evolve, decide } = runDecider
const now = '2026-01-01T00:00:00.000000Z' as Instant
const run = { project_id: 'red/project', run_id: 'run' }

const arbitraryMetrics = fc.dictionary(fc.constantFrom('loss', '__proto__'), fc.nat(1), { maxKeys: 2 })

const arbitraryCommand: fc.Arbitrary<RunCommand> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('StartRun' as const),
      project_id: fc.constant(run.project_id),
      run_id: fc.constant(run.run_id),
      now: fc.constant(now),
      name: fc.constantFrom('first', 'other'),
      user: fc.constantFrom('ada', 'bob'),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('LogMetrics' as const),
      project_id: fc.constant(run.project_id),
      run_id: fc.constant(run.run_id),
      metrics: arbitraryMetrics,
      step: fc.option(fc.integer({ min: -1, max: 4 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('EndRun' as const),
      project_id: fc.constant(run.project_id),
      run_id: fc.constant(run.run_id),
      now: fc.constant(now),
      state: fc.constantFrom(...(endState.schema['enum'] as ('finished' | 'failed')[])),
    }),
  },
)

const deeds = fc.array(arbitraryCommand, { maxLength: 30, size: 'max' })

/** What people expect of a run. */
class Model {
  name: string | undefined
  ended: string | undefined
  readonly logged: { readonly step: number | null; readonly metrics: object }[] = []

  run(command: RunCommand): 'not-found' | 'conflict' | undefined {
    if (command.type === 'StartRun') {
      this.name ??= command.name
      return this.name === command.name ? undefined : 'conflict'
    }
    if (this.name === undefined) return 'not-found'
    if (command.type === 'EndRun') {
      this.ended ??= command.state
      return this.ended === command.state ? undefined : 'conflict'
    }
    const { step, metrics } = command
    const before = step === null ? undefined : this.logged.find((one) => one.step === step)
    if (before !== undefined)
      return JSON.stringify(sorted(before.metrics)) === JSON.stringify(sorted(metrics))
        ? undefined
        : 'conflict'
    if (this.ended !== undefined) return 'conflict'
    if (Object.keys(metrics).length > 0) this.logged.push({ step, metrics })
    return undefined
  }
}

const sorted = (value: object) => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))

const loggedIn = (events: readonly RunEvent[]) =>
  events.flatMap(({ type, data }) =>
    type === 'MetricsLogged' ? [{ step: data.step, metrics: data.metrics }] : [],
  )

describe('the decider of a run', () => {
  it('does what people expect of it, whatever is asked in which order', () =>
    fc.assert(
      fc.property(deeds, (commands) => {
        const model = new Model()
        const events: RunEvent[] = []
        for (const command of commands) {
          const decided = decide(events.reduce(evolve, initialState()), command)
          events.push(...decided.events)
          assert.equal(decided.refused?.kind, model.run(command))
          assert.deepEqual(loggedIn(events), model.logged)
        }
        const { started, ended } = events.reduce(evolve, initialState())
        assert.deepEqual([started?.name, ended ?? undefined], [model.name, model.ended])
        for (const { type, data } of events) assert.ok(runEvents[type].is(data), type)
      }),
    ))

  it('writes nothing the second time, but for metrics without a step', () =>
    fc.assert(
      fc.property(deeds, (commands) => {
        const events: RunEvent[] = []
        for (const command of commands) {
          events.push(...decide(events.reduce(evolve, initialState()), command).events)
          const again = decide(events.reduce(evolve, initialState()), command)
          const isNew = command.type === 'LogMetrics' && command.step === null && again.refused === undefined
          assert.equal(again.events.length, isNew && Object.keys(command.metrics).length > 0 ? 1 : 0)
        }
      }),
    ))
})

describe('what is kept of runs', () => {
  it('leads to the same decisions as a fold of the whole run', () =>
    fc.assert(
      fc.asyncProperty(deeds, async (commands) => {
        const eventStore = openInMemoryEventStore()
        let ids = 0
        const ports = { eventStore, ids: { next: () => `id-${(ids += 1)}` } }
        const stateOf = runCache(ports)
        const stream = runStream(run.project_id, run.run_id)
        const cause = { correlationId: 'c', causationId: 'c', actor: 'test' }
        const written: RunEvent[] = []
        for (const command of commands) {
          const expected = decide(written.reduce(evolve, initialState()), command)
          const step = command.type === 'LogMetrics' ? command.step : null
          const reload = () => stateOf(stream, step)
          const { events, refusals } = await execute(ports)(runDecider, stream, [command], cause, { reload })
          assert.deepEqual(events, expected.events)
          assert.deepEqual(refusals.get(0), expected.refused)
          written.push(...events)
        }
        await eventStore.close()
      }),
    ))
})

describe('the steps of a run', () => {
  it('are found where they were logged first, in whatever order that was', () =>
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.integer({ min: -3, max: 12 }), fc.maxSafeInteger())),
        fc.array(fc.integer({ min: -5, max: 15 })),
        (steps, others) => {
          const [logged, expected] = [new LoggedSteps(), new Map<number, number>()]
          for (const [revision, step] of steps.entries()) {
            logged.add(step, revision)
            if (!expected.has(step)) expected.set(step, revision)
          }
          for (const step of [...steps, ...others]) assert.equal(logged.revisionOf(step), expected.get(step))
          assert.equal(logged.size, expected.size)
        },
      ),
    ))
})
