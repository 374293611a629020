import assert from 'node:assert/strict'
import fc from 'fast-check'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import type { RunCommand } from '../../../../src/domain/runs/commands.js'
import { runDecider } from '../../../../src/domain/runs/decider.js'
import { endState, runEvents, type RunEvent } from '../../../../src/domain/runs/events.js'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { LoggedSteps } from '../../../../src/application/runs/logged-steps.js'
import { openRuns } from '../../../../src/application/runs/runs.js'
import { historyLine } from '../../../../src/domain/runs/history.js'
import { canonicalJson } from '../../../../src/kernel/json/canonical.js'
import { systemIds } from '../../../../src/adapters/system/system.js'
import { sha256 } from '../access/arbitrary.js'

const { initialState, evolve, decide } = runDecider
const now = '2026-01-01T00:00:00.000000Z' as Instant
const run = { project_id: 'red/project', run_id: 'run' }

const arbitraryMetrics = fc.dictionary(fc.constantFrom('loss', '__proto__'), fc.nat(1), { maxKeys: 2 })

type Command = Extract<RunCommand, { type: 'StartRun' | 'LogMetrics' | 'EndRun' }>

const arbitraryCommand: fc.Arbitrary<Command> = fc.oneof(
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

  run(command: Command): 'not-found' | 'conflict' | undefined {
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
        const ports = {
          eventStore,
          ids: { next: () => `id-${(ids += 1)}` },
          blobs: openInMemoryBlobStore(),
          sha256,
        }
        const runs = openRuns(ports)
        const cause = { correlationId: 'c', causationId: 'c', actor: 'test' }
        const written: RunEvent[] = []
        for (const command of commands) {
          const expected = decide(written.reduce(evolve, initialState()), command)
          const { events, refusals } = await runs.write(command, cause)
          assert.deepEqual(events, expected.events)
          assert.deepEqual(refusals.get(0), expected.refused)
          written.push(...events)
        }
        await eventStore.close()
      }),
    ))
})

describe('the lines of a run', () => {
  /** Few values, so that requests meet: rows with times and without, of two named writers and unnamed ones. */
  const row = fc.record({ step: fc.nat(3), time: fc.option(fc.nat(3)), value: fc.nat(1) })
  const request = fc.record({
    offset: fc.nat(6),
    rows: fc.array(row, { minLength: 1, maxLength: 5 }),
    writer: fc.constantFrom(null, null, 'a', 'b'),
    reverse: fc.boolean(),
  })
  interface Request {
    readonly offset: number
    readonly rows: readonly { readonly step: number; readonly time: number | null; readonly value: number }[]
    readonly writer: string | null
    readonly reverse: boolean
  }

  const textOf = ({ step, time, value }: Request['rows'][number], reverse: boolean) => {
    const members = Object.entries({ _step: step, value, ...(time === null ? {} : { _timestamp: time }) })
    return JSON.stringify(Object.fromEntries(reverse ? members.reverse() : members))
  }
  const commandOf = ({ offset, rows, writer, reverse }: Request) => ({
    type: 'LogHistory' as const,
    ...run,
    sent: { offset, writer, lines: rows.map((one) => historyLine(textOf(one, reverse))) },
    summary: null,
    isQuiet: false,
    end: null,
    now,
  })

  it('are stored exactly once, and decisions from the kept state equal those from the whole fold', () =>
    fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 8 }), async (requests) => {
        const eventStore = openInMemoryEventStore()
        const cause = { correlationId: 'c', causationId: 'c', actor: 'test' }
        const runs = openRuns({ eventStore, ids: systemIds, blobs: openInMemoryBlobStore(), sha256 })
        const begin = { type: 'StartRun', ...run, name: 'r', user: 'u', now } as const
        const written: RunEvent[] = [...(await runs.write(begin, cause)).events]
        const stored = () =>
          written.flatMap(({ type, data }) =>
            type === 'HistoryLogged' ? (data.lines ?? []).map((line) => canonicalJson(JSON.parse(line))) : [],
          )
        for (const one of requests) {
          const command = commandOf(one)
          const expected = decide(written.reduce(evolve, initialState()), command)
          const { events } = await runs.write(command, cause)
          assert.deepEqual(events, expected.events)
          written.push(...events)
          assert.deepEqual((await runs.write(command, cause)).events, [])
          for (const line of one.rows) {
            const count = stored().filter(
              (row) => row === canonicalJson(JSON.parse(textOf(line, false))),
            ).length
            assert.ok(count >= 1)
            if (line.time !== null && requests.every(({ writer }) => writer === null)) assert.equal(count, 1)
          }
        }
        assert.equal(written.reduce(evolve, initialState()).lines, stored().length)
      }),
    ))

  const log = (offset: number, rows: readonly string[], writer: string | null = null) => ({
    ...commandOf({ offset, rows: [], writer, reverse: false }),
    sent: { offset, writer, lines: rows.map(historyLine) },
  })
  const rowsAfter = (...commands: ReturnType<typeof log>[]): readonly string[] => {
    const events: RunEvent[] = [
      ...decide(initialState(), { type: 'StartRun', ...run, name: 'r', user: 'u', now }).events,
    ]
    for (const command of commands)
      events.push(...decide(events.reduce(evolve, initialState()), command).events)
    return events.flatMap(({ type, data }) => (type === 'HistoryLogged' ? (data.lines ?? []) : []))
  }
  const rows = (from: number, time?: number) =>
    [0, 1, 2].map((at) =>
      JSON.stringify({
        _step: from + at,
        ...(time === undefined ? {} : { _timestamp: time + at, _runtime: at }),
      }),
    )

  it('below a higher line are kept', () => {
    assert.deepEqual(rowsAfter(log(0, rows(0)), log(100, rows(100)), log(3, rows(3))), [
      ...rows(0),
      ...rows(100),
      ...rows(3),
    ])
  })

  it('are rows of their own for each named writer, and for an unnamed one where the content differs', () => {
    assert.equal(rowsAfter(log(0, rows(0), 'a'), log(0, rows(0), 'b'), log(0, rows(0), 'a')).length, 6)
    assert.equal(rowsAfter(log(0, rows(0, 10), 'a'), log(0, rows(0, 10), 'b')).length, 6)
    assert.equal(rowsAfter(log(0, rows(0)), log(0, rows(0)), log(0, rows(1))).length, 6)
    assert.equal(rowsAfter(log(0, rows(0, 10)), log(0, rows(0, 20)), log(0, rows(0, 10))).length, 6)
  })

  it('are the same rows under other numbers if they are equal with their times', () => {
    const reordered = rows(0, 10).map((text) =>
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).reverse())),
    )
    assert.equal(rowsAfter(log(0, rows(0, 10)), log(3, rows(0, 10)), log(3, reordered)).length, 3)
    assert.equal(rowsAfter(log(0, rows(0, 10)), log(3, [...rows(0, 10), ...rows(3, 13)])).length, 6)
    // Another time, or none.
    assert.equal(rowsAfter(log(0, rows(0, 10)), log(3, rows(0, 10.5))).length, 6)
    assert.equal(rowsAfter(log(0, rows(0)), log(3, rows(0))).length, 6)
  })
})

describe('the history of a run', () => {
  const lines = Array.from({ length: 40 }, (_, at) => `{"_step":${at % 7},"loss":${at}}`)
  const parts = fc.array(fc.tuple(fc.nat(39), fc.integer({ min: 1, max: 15 })), { maxLength: 12 })

  it('has each line once, whatever is sent again', () =>
    fc.assert(
      fc.property(parts, (sent) => {
        const events: RunEvent[] = [
          ...decide(initialState(), { type: 'StartRun', ...run, name: 'r', user: 'u', now }).events,
        ]
        let known = 0
        for (const [from, count] of sent) {
          const offset = Math.min(from, known)
          const command = {
            type: 'LogHistory' as const,
            ...run,
            sent: { offset, lines: lines.slice(offset, offset + count).map(historyLine), writer: null },
            summary: null,
            isQuiet: false,
            end: null,
            now,
          }
          events.push(...decide(events.reduce(evolve, initialState()), command).events)
          assert.deepEqual(decide(events.reduce(evolve, initialState()), command).events, [])
          known = Math.max(known, Math.min(lines.length, offset + count))
        }
        const logged = events.flatMap((event) =>
          event.type === 'HistoryLogged' ? (event.data.lines ?? []) : [],
        )
        assert.deepEqual(logged, lines.slice(0, known))
        assert.equal(events.reduce(evolve, initialState()).lines, known)
      }),
    ))

  it('takes lines after the end, and goes on after it is resumed, ending once for each end', () => {
    const details = {
      group: null,
      job_type: null,
      notes: null,
      tags: null,
      host: 'h',
      commit: null,
      program: null,
      repository: null,
    }
    const begin = {
      type: 'DescribeRun',
      ...run,
      user: 'u',
      name: 'r',
      details,
      config: '{}',
      summary: null,
      fork: null,
      begins: true,
      now,
    } as const
    const log = (offset: number, text: string, end: 'finished' | null) =>
      ({
        type: 'LogHistory',
        ...run,
        sent: { offset, lines: [historyLine(text)], writer: null },
        summary: text,
        isQuiet: false,
        end,
        now,
      }) as const
    const events: RunEvent[] = []
    const types = (command: RunCommand) => {
      const decided = decide(events.reduce(evolve, initialState()), command)
      events.push(...decided.events)
      return decided.events.map(({ type }) => type)
    }
    assert.deepEqual(types(begin), ['RunStarted', 'RunDescribed'])
    assert.deepEqual(types(begin), [])
    assert.deepEqual(types(log(0, '{"_step":0}', 'finished')), ['HistoryLogged', 'RunFinished'])
    assert.deepEqual(types(log(0, '{"_step":0}', 'finished')), [])
    assert.deepEqual(types(log(1, '{"_step":1}', null)), ['HistoryLogged'])
    assert.equal(events.reduce(evolve, initialState()).ended, 'finished')
    assert.deepEqual(types(begin), ['RunResumed'])
    assert.deepEqual(types(log(2, '{"_step":0}', 'finished')), ['HistoryLogged', 'RunFinished'])
    assert.deepEqual(types(begin), ['RunResumed'])
    const quiet = { ...log(2, '{"_step":0}', null), isQuiet: true }
    assert.deepEqual(types(quiet), ['RunSeen'])
    // A run that was taken for crashed goes on when its program is heard of.
    assert.deepEqual(types({ type: 'EndRun', ...run, state: 'crashed', now }), ['RunFailed'])
    assert.deepEqual(types({ ...quiet, isQuiet: false }), ['RunResumed'])
  })
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
