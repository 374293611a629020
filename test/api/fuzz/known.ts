import fc from 'fast-check'
import { knownOfAutomations } from './known-automations.js'
import { SERVED } from './given-inference.js'
import { EVALUATION_REFS } from './given-rescoring.js'
import { Remembered } from './memory.js'
import { HOME, PROJECTS } from './places.js'

const GRAPHQL = [
  'query Q($n: String) { project(name: $n) { id name } }',
  '{ viewer { username } }',
  'mutation M { upsertModel(input: { entityName: "home", name: "first" }) { model { name } } }',
  'query Q($n: String) { a: entity(name: $n) { name } project(name: "first", entityName: "home") { id } }',
  '{ __schema { types { name } } serverInfo { frontendHost } }',
  '{ nothing }',
  '{',
]

const FIELDS = [
  'id',
  'op_name',
  'started_at',
  'ended_at',
  'creator',
  'created_at',
  'object_id',
  'wb_user_id',
  'val',
  'payload',
  'payload.a',
  'payload.output.0',
  'inputs.a',
  'summary.weave.status',
  'feedback.[*].payload.a',
  'output',
  'attributes.a.b',
  'summary',
  'a',
  'a.b',
  'feedback_type',
  'weave_ref',
  'payload.note',
  'summary.usage',
  'trace_id',
  'nothing',
  '*',
  'a.`b',
]

/** What a string under a key may be, from earlier answers (by kind), and without them. */
const MEANINGS: readonly (readonly [keys: string, kinds: string, otherwise?: readonly unknown[]])[] = [
  ['call_id', 'call_id id'],
  ['id call_ids parent_id parent_ids feedback_id', 'id'],
  ['trace_id trace_ids scorer_trace_id span_trace_id', 'trace_id id'],
  ['thread_id thread_ids turn_id turn_ids', 'thread_id', ['thread']],
  ['digest digests', 'digest', ['latest', 'v0']],
  ['base_digest expected_digest', 'digest'],
  ['row_digests', 'row_digests updated_row_digests'],
  ['object_id object_ids', 'object_id', ['model', 'prompt']],
  ['op_name op_names', 'op_name ref', ['answer']],
  ['weave_ref', 'ref'],
  ['annotation_ref', '', ['weave:///home/first/object/quality:latest']],
  ['call_ref trigger_ref runnable_ref refs input_refs output_refs', 'ref'],
  [
    'feedback_type',
    '',
    [
      'custom',
      'custom',
      'custom',
      'custom',
      'wandb.note.1',
      'wandb.reaction.1',
      'wandb.runnable.data',
      'wandb.annotation.quality',
    ],
  ],
  [
    'evaluation_run_id evaluation_run_ids evaluation_call_id evaluation_call_ids source_evaluation_run_id',
    'evaluation_run_id',
  ],
  ['prediction_id prediction_ids', 'prediction_id'],
  ['score_id score_ids', 'score_id'],
  ['evaluation scorer dataset', '', ['weave:///home/first/object/quality:latest']],
  ['queue_id queue_ids', 'queue_id'],
  ['item_id', 'item_id'],
  ['annotation_state', '', ['in_progress', 'completed', 'skipped']],
  ['tags', 'tags', ['good', 'old']],
  ['aliases', '', ['best', 'used', 'best', 'latest']],
  ['base_object_classes leaf_object_classes', 'base_object_class', ['Dataset']],
  ['team', 'name', ['home', 'default', 'home']],
  ['entity', '', ['home', 'strangers', 'home']],
  ['project', '', ['first', 'second']],
  ['collection', '', ['model']],
  ['registry', '', ['models']],
  ['version', 'version', ['v0', 'latest', 'best']],
  ['alias', '', ['best', 'used', 'latest']],
  ['tag', '', ['good', 'old']],
  ['run', 'id', ['run-0', 'run-500', 'run-1000', 'run-4000']],
  ['user', 'user'],
  ['api_key', 'api_key'],
  ['after', 'next name version'],
  ['field fields columns $getField', '', FIELDS],
  ['operationName', '', ['Q', 'M']],
  // what is not served yet
  ['latest_only', '', [false]],
  ['timezone', '', ['UTC', 'Europe/Berlin']],
  ['granularity', '', [3600, 'hour', 'day']],
  ['price_list', '', ['default', null]],
]

/** In inference, where ports that no service has are known not to answer. */
const INFERENCE: Readonly<Record<string, readonly unknown[]>> = {
  model: [SERVED],
  base_url: ['http://127.0.0.1:7/v1'],
  models: ['one', 'two', 'three'].map((name) => ({ id: `home/${name}`, upstream_id: name, aliases: [] })),
  scope: [{ type: 'team' }, { type: 'project', project: 'first' }],
  team: ['home'],
  secret: [null],
}

const anyProject = fc.oneof(
  { weight: 40, arbitrary: fc.constant(HOME) },
  { weight: 4, arbitrary: fc.constantFrom(...PROJECTS) },
  { weight: 1, arbitrary: fc.constantFrom('elsewhere/project', 'home/new') },
)

const queriesIn = (area: string): fc.Arbitrary<unknown> => {
  if (area === 'graphql') return fc.constantFrom(...GRAPHQL)
  if (!['feedback', 'calls', 'usage', 'costs'].includes(area)) return fc.constant(null)
  const byId = fc.nat({ max: 9999 }).map((pick) => {
    const one = { $literal: new Remembered(area, ['id'], pick, 'nobody') }
    return { $expr: { $or: [{ $eq: [{ $getField: 'id' }, one] }] } }
  })
  return fc.oneof(byId, fc.constant(null))
}

/** Times that make a range, where a range is asked for. */
const DAYS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  start: fc.constantFrom('2026-01-01T00:00:00Z', '2025-12-31T12:00:00Z'),
  end: fc.constantFrom('2026-01-02T00:00:00Z', '2026-01-20T00:00:00Z'),
}

/** Strings that lead somewhere, by the key that they stand under, in an area of the API. */
export const knownIn =
  (area: string) =>
  (
    key: string,
    { format, type }: { readonly format?: unknown; readonly type?: unknown } = {},
  ): fc.Arbitrary<unknown> | undefined => {
    if (format === 'date-time') return DAYS[key]
    if (key === 'project_id') return anyProject
    if (key === 'query') return queriesIn(area)
    if (key === 'name' && area === 'secrets') return fc.constantFrom('TOKEN', 'TOKEN', 'SIGNING_KEY', '1')
    if (key === 'event' && type === 'string') return fc.constantFrom('1', '2', '30')
    if (area === 'inference' && Object.hasOwn(INFERENCE, key)) return fc.constantFrom(...INFERENCE[key]!)
    if (Object.hasOwn(EVALUATION_REFS, key)) return fc.constantFrom(...EVALUATION_REFS[key]!)
    const ofAutomations = knownOfAutomations(area, key)
    if (ofAutomations !== undefined) return ofAutomations
    const meaning = MEANINGS.find(([keys]) => keys.split(' ').includes(key))
    if (meaning === undefined) return undefined
    const [, kinds, fixed = []] = meaning
    const remembered = fc
      .tuple(fc.nat({ max: 9999 }), fc.constantFrom('model', 'call', 'thing'))
      .map(([pick, otherwise]) => new Remembered(area, kinds.split(' '), pick, otherwise))
    // names that are remembered there are those of registries
    if (key === 'team' && area === 'registries') return fc.constant('home')
    if (kinds === '') return fc.constantFrom(...fixed)
    return fixed.length === 0 ? remembered : fc.oneof(remembered, fc.constantFrom(...fixed))
  }
