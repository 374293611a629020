import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import type { Operation } from '../../../src/domain/query/expression.js'
import type { Filter } from '../oracle/operations.js'
import { json, KEYS, literal, operationsOver, pathOf, scalar, word } from './arbitrary.js'
import type { Call, Feedback } from './call.js'

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', "it's", '漢字😀', '{x0:String}', 'NULL', '\\', '5']
const TRACES = ['a', 'b', 'trace', "tr'ace"]
const OPS = [
  'weave:///t/p/op/answer:v1',
  'weave:///t/p/op/answer:v2',
  'weave:///t/p/op/answering:v1',
  'answer',
  'plain:op',
  "o'p",
  'weave:///t/p/object/answer:v1',
]
const REFS = ['weave:///t/p/object/set:d1', 'weave:///t/p/object/set:d2', 'weave:///t/p/object/other:d1']
const TYPES = ['wandb.reaction.1', 'note', "it's [a] type"]
const RUNS = ['run', 't/p/run']

/** Positions from 1 on; the largest is {@link LAST}. */
const LAST = 30
const position = fc.integer({ min: 1, max: LAST })

const time = fc.constantFrom(
  1767225600_000000,
  1767225600_000001,
  1767225600_500000,
  1767225601_000000,
  -2208988800_000000,
)

const key = fc.constantFrom(...KEYS)
const payload: fc.Arbitrary<JsonObject> = fc
  .array(
    fc.tuple(
      key,
      fc.oneof({ weight: 6, arbitrary: json }, { weight: 1, arbitrary: fc.constantFrom(...REFS) }),
    ),
    { maxLength: 5 },
  )
  .map((members) => Object.fromEntries<Json>(members))

const summary: fc.Arbitrary<JsonObject> = fc
  .tuple(payload, fc.option(scalar), fc.option(json))
  .map(([members, error, weave]) => ({
    ...members,
    ...(error === null ? {} : { status_counts: { error } }),
    ...(weave === null ? {} : { weave }),
  }))

const notEmpty = word.filter((one) => one !== '')

const feedback: fc.Arbitrary<Feedback> = fc.record({
  id: fc.uuid(),
  type: fc.constantFrom(...TYPES),
  creator: fc.option(notEmpty),
  at: time,
  payload,
  position,
  purged: fc.option(position, { freq: 3 }),
})

const call = fc.record({
  id: fc.constantFrom(...IDS),
  op_name: fc.constantFrom(...OPS),
  display_name: fc.option(notEmpty),
  trace_id: fc.constantFrom(...TRACES),
  parent_id: fc.option(fc.constantFrom(...IDS)),
  thread_id: fc.option(fc.constantFrom('t1', 't2')),
  wb_user_id: fc.constantFrom('admin', 'alice'),
  wb_run_id: fc.option(fc.constantFrom(...RUNS)),
  wb_run_step: fc.option(fc.constantFrom(0, 1, -1, 5, 1000)),
  at: time,
  attributes: payload,
  inputs: payload,
  started: position,
  end: fc.option(
    fc.record({
      position,
      at: time,
      exception: fc.option(notEmpty, { freq: 2 }),
      output: fc.oneof(payload, fc.constantFrom(null, 'text', REFS[0]!)),
      summary,
    }),
    { freq: 5 },
  ),
  renamed: fc.option(fc.record({ position, name: word }), { freq: 3 }),
  deleted: fc.option(position, { freq: 2 }).map((at) => at),
  feedback: fc.array(feedback, { maxLength: 3 }),
})

/** Calls of one project; a call may be deleted, renamed or ended before it starts, as the log allows. */
export const arbitraryCalls = (project_id: string): fc.Arbitrary<readonly Call[]> =>
  fc
    .uniqueArray(call, { selector: ({ id }) => id, minLength: 4, maxLength: IDS.length })
    .map((calls) => calls.map((one) => ({ ...one, project_id })))

const ROOTS = [
  'inputs',
  'output',
  'attributes',
  'summary',
  'inputs_dump',
  'summary_dump',
  'feedback.[*].payload',
]
const path = fc
  .tuple(
    fc.constantFrom(...ROOTS, `feedback.[${TYPES[2]!}].payload`),
    fc.array(key, { maxLength: 3 }),
    fc.boolean(),
  )
  .map(([root, keys, isBare]) => (keys.length === 0 ? root : `${root}.${pathOf(keys, isBare)}`))

const PLAIN = [
  'project_id',
  'id',
  'trace_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'op_name',
  'started_at',
  'ended_at',
  'deleted_at',
  'exception',
  'wb_user_id',
  'wb_run_id',
  'wb_run_step',
  'display_name',
  'input_refs',
  'output_refs',
  'storage_size_bytes',
  'total_storage_size_bytes',
  'summary.weave.status',
  'summary.weave.latency_ms',
  'summary.weave.trace_name',
  'summary.weave.display_name',
  'summary.weave.a',
  'summary.status_counts.error',
  'feedback.[note].creator',
  'feedback.[*].created_at',
  'feedback.[wandb.reaction.1].feedback_type',
  'feedback.[unknown].payload.a',
]

const INDEXED = ['id', 'trace_id', 'parent_id', 'op_name']

const field = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...PLAIN) },
  { weight: 3, arbitrary: path },
  { weight: 2, arbitrary: fc.constantFrom(...INDEXED) },
)

const MET: readonly Json[] = [
  ...IDS,
  ...TRACES,
  ...OPS,
  ...REFS,
  'error',
  'running',
  'success',
  'descendant_error',
  'admin',
  'wandb.reaction.1',
  500,
  0,
  1000,
]

/** Operations that an index helps with, alone or among others. */
const equality = fc
  .tuple(
    fc.constantFrom(...INDEXED),
    fc.array(fc.constantFrom<Json>(...MET), { minLength: 1, maxLength: 3 }),
    fc.boolean(),
  )
  .map(([name, values, isTurned]): Operation => {
    const [one, ...more] = values.map(($literal) => ({ $literal }))
    const asked = { $getField: name }
    if (more.length > 0) return { $in: [asked, [one!, ...more]] }
    return { $eq: isTurned ? [one!, asked] : [asked, one!] }
  })

/** Operations that rows of starts are tried by. */
const ofPayload = fc
  .tuple(
    fc.constantFrom('inputs', 'attributes'),
    key,
    fc.oneof(scalar, fc.constantFrom(...MET)),
    fc.integer({ max: 2, min: 0 }),
  )
  .map(([root, part, $literal, form]): Operation => {
    const asked = { $getField: `${root}.${pathOf([part], false)}` }
    if (form === 0) return { $in: [asked, [{ $literal }, { $literal: 'a' }]] }
    if (form === 1) return { $contains: { input: asked, substr: { $literal }, case_insensitive: true } }
    return { $eq: [asked, { $literal }] }
  })

const equals = (name: string, ...values: readonly Json[]): Operation =>
  values.length === 1
    ? { $eq: [{ $getField: name }, { $literal: values[0]! }] }
    : { $in: [{ $getField: name }, values.map(($literal) => ({ $literal }))] }

/** Operations for which rows without an end, or those of calls with feedback, are read. */
const ofFewRows = fc.constantFrom(
  equals('summary.weave.status', 'running'),
  equals('summary.weave.status', 'running', 'running'),
  equals('ended_at', null),
  equals('ended_at', ''),
  equals('summary.weave.status', 'running', 'success'),
  equals('feedback.[*].feedback_type', 'note', 'wandb.reaction.1'),
  equals('feedback.[note].feedback_type', 'note'),
  equals('feedback.[note].creator', ''),
)

const anyOperation = operationsOver(
  field,
  fc.oneof({ weight: 2, arbitrary: literal }, { weight: 1, arbitrary: fc.constantFrom(...MET) }),
)

export const arbitraryOperationOnCalls: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: anyOperation },
  { weight: 1, arbitrary: equality },
  { weight: 1, arbitrary: fc.array(equality, { maxLength: 2 }).map(($and): Operation => ({ $and })) },
  { weight: 1, arbitrary: fc.array(equality, { maxLength: 2 }).map(($or): Operation => ({ $or })) },
  { weight: 1, arbitrary: ofPayload },
  {
    weight: 1,
    arbitrary: fc
      .tuple(ofPayload, anyOperation)
      .map(([one, other]): Operation => ({ $and: [one, { $and: [other] }] })),
  },
  { weight: 2, arbitrary: ofFewRows },
  { weight: 1, arbitrary: fc.tuple(ofFewRows, ofPayload).map(($and): Operation => ({ $and })) },
  { weight: 1, arbitrary: fc.tuple(equality, anyOperation).map(($and): Operation => ({ $and })) },
)

const some = (...values: readonly string[]) =>
  fc.option(fc.array(fc.constantFrom(...values), { maxLength: 3 }), { freq: 2 })

export const arbitraryFilter: fc.Arbitrary<Filter> = fc
  .record({
    op_names: some(...OPS, 'answering', 'weave:///t/p/op/answer:*', 'plain:*', ':*', ''),
    input_refs: some(...REFS, 'weave:///t/p/object/set:*', 'set'),
    output_refs: some(...REFS, 'weave:///t/p/object/set:*'),
    parent_ids: some(...IDS, ''),
    trace_ids: some(...TRACES, 'nowhere'),
    call_ids: some(...IDS, ...IDS, 'nobody'),
    thread_ids: some('t1', 't2', ''),
    wb_run_ids: some(...RUNS),
    trace_roots_only: fc.constantFrom(null, false, true),
  })
  .chain((filter) =>
    fc
      .subarray(Object.keys(filter) as (keyof typeof filter)[], { maxLength: 2 })
      .map((keys) => Object.fromEntries(keys.map((one) => [one, filter[one]]))),
  )

export const arbitraryOrder = fc.array(
  fc.record({ field, direction: fc.constantFrom('asc' as const, 'desc' as const) }),
  { maxLength: 3 },
)

export const arbitraryPosition = fc.oneof(fc.constant(LAST), position)
