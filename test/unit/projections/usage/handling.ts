import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { callsFilter } from '../../../../src/application/calls/filter.js'
import { usageJson } from '../../../../src/application/calls/usage-json.js'
import type { ClickHouseReader, Rows } from '../../../../src/kernel/ports/clickhouse.js'
import { projections } from '../../../../src/projections/all.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { usageFrom, withDescendants } from '../../../../src/projections/usage/queries.js'
import type { UsageCase } from '../../../support/oracle/cases.js'
import type { Answer, Operation } from '../../../support/oracle/operations.js'
import { read, Recorder } from './recorder.js'

/** Where projections put rows and queries find them again. */
export interface Tables {
  readonly reader: ClickHouseReader
  readonly insert: (rows: Rows) => Promise<void>
  /** Brings the totals of this project alone up to a position. */
  readonly sumUp?: (projected: bigint) => Promise<unknown>
}

/** What the service is free to do on the way, so that no answer may depend on it. */
export interface Handling {
  /** Operations that the projector takes at once. */
  readonly batch: number
  /** Events that it takes at once when it reads the log a second time; 0: it doesn't. */
  readonly again: number
  /** The question comes once before so many of a hundred parts of the operations … */
  readonly early: number
  /** … and at the end as of so many of them. */
  readonly asOf: number
  /** Before which questions the totals are brought up to date; they are read where they apply. */
  readonly totals: 'none' | 'early' | 'all'
}

export const arbitraryHandling: fc.Arbitrary<Handling> = fc.record({
  batch: fc.integer({ min: 1, max: 60 }),
  again: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20 })),
  early: fc.oneof(fc.constant(0), fc.nat(100)),
  asOf: fc.oneof({ weight: 3, arbitrary: fc.constant(100) }, { weight: 1, arbitrary: fc.nat(100) }),
  totals: fc.constantFrom('none', 'early', 'all'),
})

export interface Asked {
  /** What the answer may know of. */
  readonly known: ReadonlyArray<Operation>
  readonly answer: Answer
}

/** The service's answers: operations decided, projected into the tables, asked for and written as JSON. */
export const answersOf = async (
  tables: Tables,
  { operations, question }: UsageCase,
  handling: Handling,
  projectId: string,
): Promise<ReadonlyArray<Asked>> => {
  const usage = usageFrom(undefined, handling.totals === 'none' ? undefined : 0)
  const filter = question.filter == null ? null : read(callsFilter, question.filter)
  const ask = async (count: number, position: bigint): Promise<Asked> => {
    const limit = question.limit ?? 10_000
    const answered = await usage(tables.reader, {
      projectId,
      filter,
      operation: null,
      limit,
      position,
      maxTraceCalls: 1000,
    })
    const body = await text(Readable.from(usageJson(answered)))
    return {
      known: operations.slice(0, count),
      answer: {
        ...(JSON.parse(body) as Pick<Answer, 'call_usage' | 'unfinished_call_ids'>),
        truncated: answered.truncatedCount,
        unfinished_descendants: answered.unfinishedDescendants,
      },
    }
  }

  const { recorder, project } = recording(tables, projectId)
  const answers: Asked[] = []
  const early = Math.ceil((operations.length * handling.early) / 100)
  const asOf = Math.round((operations.length * handling.asOf) / 100)
  let position = 0n
  for (const [index, operation] of operations.entries()) {
    if (index % handling.batch === 0) await project()
    await recorder.take(operation)
    if (index + 1 === asOf) position = recorder.head
    if (index + 1 !== early) continue
    await project()
    if (handling.totals !== 'none') await tables.sumUp?.(recorder.head)
    answers.push(await ask(early, recorder.head))
  }
  await project()
  if (handling.again > 0)
    for (let from = 0; from < recorder.events.length; from += handling.again)
      await insertRows(tables, recorder.events.slice(from, from + handling.again))
  if (handling.totals === 'all') await tables.sumUp?.(recorder.head)
  answers.push(await ask(asOf, position))
  return answers
}

/** Records operations of a project, and projects the events that are new. */
export const recording = (tables: Tables, projectId: string) => {
  let projected = 0
  const project = async (): Promise<void> => {
    await insertRows(tables, recorder.events.slice(projected))
    projected = recorder.events.length
  }
  const recorder: Recorder = new Recorder(projectId, async (ids) => {
    await project()
    return withDescendants(tables.reader)(projectId, ids, recorder.head)
  })
  return { recorder, project }
}

/** Costs as they are written. */
export const costsIn = (body: string) => {
  const texts = body.replaceAll(/("\w+_total_cost":)([-.\d]+)/g, '$1"$2"')
  const { call_usage } = JSON.parse(texts) as {
    call_usage: Record<string, Record<string, Record<string, string | null>>>
  }
  return (callId: string, model: string, cost: string): string | null => call_usage[callId]![model]![cost]!
}

export const insertRows = async (tables: Tables, events: readonly ProjectedEvent[]): Promise<void> => {
  for (const projection of projections)
    for (const rows of projection.rowsOf(events)) await tables.insert(rows)
}
