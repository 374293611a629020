import fc from 'fast-check'
import { callsFilter } from '../../src/api/tracing/filter.js'
import { usageJson } from '../../src/api/tracing/usage-json.js'
import { projections } from '../../src/projections/all.js'
import type { ProjectedEvent } from '../../src/projections/projection.js'
import { withDescendants } from '../../src/projections/usage/descendants-queries.js'
import { usage } from '../../src/projections/usage/queries.js'
import type { UsageCase } from '../support/oracle/cases.js'
import type { Answer } from '../support/oracle/operations.js'
import { PROJECT } from '../support/oracle/given.js'
import { read, Recorder } from './recorder.js'
import type { Tables } from './tables.js'

/** What the service is free to do on the way, so that no answer may depend on it. */
export interface Handling {
  /** Operations that the projector takes at once. */
  readonly batch: number
  /** Events that it takes at once when it reads the log a second time; 0: it doesn't. */
  readonly again: number
  /** The answer is asked as of so many of a hundred parts of the operations. */
  readonly asOf: number
}

export const arbitraryHandling: fc.Arbitrary<Handling> = fc.record({
  batch: fc.integer({ min: 1, max: 60 }),
  again: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20 })),
  asOf: fc.oneof({ weight: 3, arbitrary: fc.constant(100) }, { weight: 1, arbitrary: fc.nat(100) }),
})

/** The operations that an answer as of the asked place knows. */
export const knownOperations = ({ operations }: UsageCase, { asOf }: Handling): UsageCase['operations'] =>
  operations.slice(0, Math.round((operations.length * asOf) / 100))

/** The service's answer: operations decided, projected into the tables, asked for and written as JSON. */
export const serviceAnswer = async (
  tables: Tables,
  usageCase: UsageCase,
  handling: Handling,
  projectId = PROJECT,
): Promise<Answer> => {
  const { operations, question } = usageCase
  let projected = 0
  const project = async (): Promise<void> => {
    await insertRows(tables, recorder.events.slice(projected))
    projected = recorder.events.length
  }
  const recorder: Recorder = new Recorder(projectId, async (ids) => {
    await project()
    return withDescendants(tables.reader)(projectId, ids, recorder.head)
  })

  const known = knownOperations(usageCase, handling).length
  let position = 0n
  for (const [index, operation] of operations.entries()) {
    if (index % handling.batch === 0) await project()
    await recorder.take(operation)
    if (index + 1 === known) position = recorder.head
  }
  await project()
  if (handling.again > 0)
    for (let from = 0; from < recorder.events.length; from += handling.again)
      await insertRows(tables, recorder.events.slice(from, from + handling.again))

  const filter = question.filter == null ? null : read(callsFilter, question.filter)
  const limit = question.limit ?? 10_000
  const answer = await usage(tables.reader)({ projectId, filter, limit, position, maxTraceCalls: 1000 })
  const body = Buffer.concat([...usageJson(answer.answered)]).toString()
  return {
    ...(JSON.parse(body) as Pick<Answer, 'call_usage' | 'unfinished_call_ids'>),
    truncated: answer.more,
    unfinished_descendants: answer.unfinishedDescendants,
  }
}

const insertRows = async (tables: Tables, events: readonly ProjectedEvent[]): Promise<void> => {
  for (const projection of projections)
    for (const rows of projection.rowsOf(events)) await tables.insert(rows)
}
