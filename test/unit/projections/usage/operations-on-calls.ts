import fc from 'fast-check'
import type { Json } from '../../../../src/kernel/json/json.js'
import type { Operation } from '../../../../src/domain/query/expression.js'
import { literal, operationsOver } from '../../../support/expression/arbitrary.js'
import { evaluateOver, leafAt, type Value } from '../../../support/expression/evaluate.js'
import type { Started } from '../../../support/oracle/started.js'
import { text } from '../../../support/oracle/record.js'

const KINDS: Readonly<Record<string, string>> = {
  id: 'text',
  trace_id: 'text',
  parent_id: 'text',
  thread_id: 'text',
  op_name: 'text',
  exception: 'text',
  started_at: 'instant',
  ended_at: 'instant',
  'summary.weave.latency_ms': 'number',
}

const FIELDS = [...Object.keys(KINDS), 'attributes.weave.source', 'attributes.weave', 'output']

const MET: readonly Json[] = [
  'c0',
  'c1',
  'c2',
  'c5',
  'a',
  'á',
  '__proto__',
  'trace-0',
  'trace-1',
  'thread-1',
  'op',
  'a_b',
  'js-sdk',
  'python-sdk',
  'weave:///',
  '2025-01-01T00:00:00.000003Z',
  '2025-01-01',
  0,
  1000,
  2000,
]

const anyOperation: fc.Arbitrary<Operation> = operationsOver(
  fc.constantFrom(...FIELDS),
  fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...MET) }, { weight: 1, arbitrary: literal }),
)

const field = ($getField: string) => ({ $getField })
const equals = (name: string, $literal: Json): Operation => ({ $eq: [field(name), { $literal }] })

/** What often some calls of a case meet, and others do not. */
const telling: fc.Arbitrary<Operation> = fc.oneof(
  fc
    .uniqueArray(fc.nat(9), { minLength: 1 })
    .map((places): Operation => ({ $in: [field('id'), places.map((nth) => ({ $literal: `c${nth}` }))] })),
  fc
    .constantFrom('00.000002', '00.002', '02')
    .map((seconds): Operation => ({
      $gte: [field('started_at'), { $literal: `2025-01-01T00:00:${seconds}Z` }],
    })),
  fc.constantFrom(
    equals('thread_id', 'thread-1'),
    equals('op_name', 'op'),
    equals('exception', null),
    equals('attributes.weave.source', 'js-sdk'),
    { $and: [{ $convert: { input: field('parent_id'), to: 'exists' } }] },
  ),
)

/** Operations on what calls of usage cases are. */
export const arbitraryOperationOnCalls: fc.Arbitrary<Operation> = fc.oneof(
  telling,
  telling.map((one): Operation => ({ $not: [one] })),
  fc.tuple(telling, anyOperation).map(($or): Operation => ({ $or })),
  anyOperation,
)

/** Whether an operation selects a call. */
export const meets = (operation: Operation, call: Started): boolean =>
  evaluateOver(operation, { kind: (name) => KINDS[name] ?? 'leaf', value: (name) => valueOf(call, name) }) ===
  true

const valueOf = (call: Started, name: string): Value => {
  const { start, end, startedAt, endedAt } = call
  switch (name) {
    case 'id':
      return texted(call.id)
    case 'trace_id':
      return texted(call.traceId)
    case 'parent_id':
      return texted(call.parentId)
    case 'thread_id':
      return texted(text(start.thread_id))
    case 'op_name':
      return texted(start.op_name)
    case 'exception':
      return texted(text(end?.exception))
    case 'started_at':
      return { instant: Number(startedAt) }
    case 'ended_at':
      return endedAt === undefined ? null : { instant: Number(endedAt) }
    case 'summary.weave.latency_ms':
      return endedAt === undefined || endedAt < startedAt
        ? null
        : { number: Number((endedAt - startedAt) / 1000n) }
    case 'output':
      return leafAt(end?.output ?? null, [])
    default:
      return leafAt(start.attributes, name.split('.').slice(1))
  }
}

const texted = (value: string | null): Value => (value === null ? null : { text: value })
