import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { usageJson } from '../../../../src/application/calls/usage-json.js'
import { DEFAULT_LIST } from '../../../../src/domain/prices/events.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { bookOf } from '../../../../src/projections/prices/book.js'
import { usageAnswer } from '../../../../src/projections/usage/answer.js'
import { atOrBelow } from '../../../../src/projections/usage/inclusive-usage.js'
import { usageProjection } from '../../../../src/projections/usage/project.js'
import { traceBuilder, type Fact, type TraceCalls } from '../../../../src/projections/usage/trace.js'
import { SOURCES, type UsageFact } from '../../../../src/projections/usage/columns.js'
import { FACTS } from '../../../../src/projections/usage/tables.js'
import { COUNTS } from '../../../counts.js'
import { arbitraryUsageCase } from '../../../support/oracle/cases.js'
import { costsAfter, isEqual, type Fraction } from '../../../support/oracle/costs.js'
import { PROJECT } from '../../../support/oracle/given.js'
import type { Answer, Operation } from '../../../support/oracle/operations.js'
import { answer } from '../../../support/oracle/oracle.js'
import { record } from '../../../support/oracle/record.js'
import { costsIn } from './handling.js'
import { arbitraryLives, fraction, standing, type Life } from './prices.js'
import { Recorder } from './recorder.js'

const CASES = COUNTS.usageRollups

const COSTS = [
  'prompt_tokens_total_cost',
  'completion_tokens_total_cost',
  'cache_read_input_tokens_total_cost',
  'cache_creation_input_tokens_total_cost',
  'web_search_requests_total_cost',
  'requests_total_cost',
  'seconds_total_cost',
  'characters_total_cost',
  'images_total_cost',
] as const
const RARE = 4

describe('the rule of usage', () => {
  it(`gives the oracle's usage and costs in ${CASES} random cases`, async function () {
    this.timeout(0)
    const law = fc.asyncProperty(
      arbitraryUsageCase,
      arbitraryLives,
      fc.constantFrom(undefined, null, 'default', 'other'),
      fc.integer({ min: 1, max: 60 }),
      fc.oneof({ weight: 3, arbitrary: fc.constant(100) }, { weight: 1, arbitrary: fc.nat(100) }),
      async ({ operations, question }, lives, list, batch, share) => {
        const known = operations.slice(0, Math.round((operations.length * share) / 100))
        const { events, position } = await recorded(operations, known.length)
        const expected = answer(known, question)
        const calls = await callsAt(events, batch, position)
        const prices = list === undefined ? null : bookAt(lives, list, position)
        const answering = usageAnswer(record(known).reporting, prices)
        const selected = Object.keys(expected.call_usage).map((id) => calls.indexOf.get(id)!)
        await answering.add(calls, Int32Array.from(selected))
        const answered = answering.finish(expected.truncated)
        const body = await text(Readable.from(usageJson(answered, { withCosts: prices !== null })))
        const told = {
          ...withoutCosts(JSON.parse(body) as Answer & UnpricedMembers),
          truncated: answered.truncatedCount,
          unfinished_descendants: answered.unfinishedDescendants,
        }
        if (list === undefined) assert.deepEqual(told, expected)
        else assert.deepEqual(withoutUnrecognized(told), withoutUnrecognized(expected))
        if (list === undefined) return
        const oracle = costsAfter(known, standing(lives, list, position))
        const texts = costsIn(body)
        for (const [callId, usage] of Object.entries(expected.call_usage))
          for (const model of Object.keys(usage)) {
            const told = COSTS.map((cost) => texts(callId, model, cost))
            const isUnpriced = oracle.unpriced(callId).includes(model)
            oracle.of(callId, model).forEach((cost, kind) => {
              // Only where there are such costs.
              const written = kind >= RARE ? (told[kind] ?? (isUnpriced ? null : '0')) : told[kind]
              if (isUnpriced) assert.equal(written, null)
              else assert.ok(isEqual(signed(written!), cost))
            })
          }
        const without = new Set(Object.keys(expected.call_usage).flatMap((id) => oracle.unpriced(id)))
        assert.deepEqual(answered.unpricedModels, [...without].sort())
      },
    )
    await fc.assert(law, { numRuns: CASES })
  })
})

const recorded = async (operations: readonly Operation[], asOf: number) => {
  const recorder: Recorder = new Recorder(PROJECT, async (ids) => {
    const calls = await callsAt(recorder.events, 10, recorder.head)
    const roots = ids.flatMap((id) => {
      const call = calls.indexOf.get(id)
      return call === undefined || calls.isDeleted[call] === 1 ? [] : [call]
    })
    return [...atOrBelow(calls, roots)].map((call) => calls.ids[call]!)
  })
  let position = 0n
  for (const [index, operation] of operations.entries()) {
    await recorder.take(operation)
    if (index + 1 === asOf) position = recorder.head
  }
  return { events: recorder.events, position }
}

/** The calls as of a position, by the facts of all events in batches. */
const callsAt = (events: readonly ProjectedEvent[], batch: number, position: bigint): Promise<TraceCalls> => {
  const rows: UsageFact[] = []
  for (let from = 0; from < events.length; from += batch)
    for (const { table, values } of usageProjection.rowsOf(events.slice(from, from + batch)))
      if (table === 'usage_facts')
        for (const row of values)
          rows.push(
            Object.fromEntries(FACTS.names.map((column, k) => [column, row[k]])) as unknown as UsageFact,
          )
  const facts = rows
    .toSorted(
      (a, b) =>
        byBytes(a.trace_id, b.trace_id) ||
        byBytes(a.call_id, b.call_id) ||
        Number(a.position) - Number(b.position),
    )
    .map((row) => factOf(row, position))
    .filter(({ hasStart, hasEnd, isDeleted }) => hasStart || hasEnd || isDeleted)
  const builder = traceBuilder()
  for (const fact of facts) builder.add(fact)
  return builder.finish()
}

const factOf = (row: UsageFact, position: bigint): Fact => {
  const reached = (at: string) => at !== '0' && BigInt(at) <= position
  const hasEnd = reached(row.ended_position)
  return {
    traceId: row.trace_id,
    id: row.call_id,
    parentId: row.parent_id,
    hasStart: reached(row.started_position) || hasEnd,
    hasEnd,
    isDeleted: reached(row.deleted_position),
    started: since2100(row.started_at),
    ended: since2100(row.ended_at),
    source: SOURCES.indexOf(row.source),
    statusTotal: row.status_total ?? NaN,
    responseId: row.response_id,
    models: hasEnd ? row.models : [],
    figures: hasEnd ? row.figures : [],
  }
}

const since2100 = (dateTime64: string): number => {
  const milliseconds = Date.parse(`${dateTime64.slice(0, 19).replace(' ', 'T')}Z`) - Date.UTC(2100, 0, 1)
  return milliseconds * 1000 + Number(dateTime64.slice(20))
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const bookAt = (lives: readonly Life[], list: string | null, position: bigint) =>
  bookOf(
    lives
      .filter(({ at, until }) => at <= position && (until === null || until > position))
      .filter(({ data }) => (list === null ? data.list !== 'other' : data.list === list))
      .toSorted((a, b) => Number(a.at - b.at))
      .map(({ data }) => ({
        ...data,
        owner: data.project_id ?? data.list ?? DEFAULT_LIST,
        created_by: data.created_by ?? '',
        created_at: data.created_at,
      })),
    PROJECT,
    undefined,
  )

interface UnpricedMembers {
  readonly unpriced_models?: readonly string[]
  readonly unpriced_model_count?: number
}

const withoutCosts = ({
  call_usage,
  unpriced_models: _,
  unpriced_model_count: __,
  ...rest
}: Answer & UnpricedMembers) => ({
  ...rest,
  call_usage: JSON.parse(
    JSON.stringify(call_usage, (key, value: unknown) =>
      (COSTS.slice(RARE) as readonly string[]).includes(key)
        ? undefined
        : key.endsWith('_total_cost')
          ? null
          : value,
    ),
  ) as Answer['call_usage'],
})

/** Prices decide whether audio and searches are understood. */
const withoutUnrecognized = (answer: object): unknown =>
  JSON.parse(
    JSON.stringify(answer, (key, value: unknown) => (key === 'unrecognized_usage' ? undefined : value)),
  )

const signed = (written: string): Fraction => {
  const [numerator, denominator] = fraction(written.replace('-', ''))
  return [written.startsWith('-') ? -numerator : numerator, denominator]
}
