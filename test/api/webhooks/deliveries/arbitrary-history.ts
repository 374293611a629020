import fc from 'fast-check'
import type { EventStore, RecordedEvent } from '../../../../src/kernel/ports/event-store.js'
import {
  contentOf,
  IN_PROJECT,
  ofProject,
  recorded,
} from '../../../unit/domain/webhooks/automations/matching/given.js'
import { priceStream, type PriceOwner } from '../../../../src/domain/prices/events.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'

const HOUR = 3600 * 1000

const value = fc.integer({ min: -3, max: 3 })
const window = fc.integer({ min: 1, max: 3 })
const payload = fc.constantFrom(
  '{"run": "${run_name}", "value": ${metric_value}}',
  '{"alias": "${alias}", "of": ${artifact_metadata.owner}}',
)

const condition = fc.oneof(
  fc.record({
    type: fc.constant('RUN_METRIC'),
    metric: fc.constantFrom('loss', 'speed'),
    window,
    aggregation: fc.constantFrom('MAX', 'AVERAGE'),
    comparison: fc.constantFrom('$gt', '$lte'),
    threshold: fc.constantFrom(-1, 0, 1),
  }),
  fc.record({
    type: fc.constant('RUN_METRIC_CHANGE'),
    metric: fc.constant('loss'),
    window,
    prior_window: window,
    aggregation: fc.constant('MIN'),
    change_type: fc.constant('ABSOLUTE'),
    change_direction: fc.constant('ANY'),
    change_amount: fc.constant(2),
  }),
  fc.record({ type: fc.constant('RUN_STATE'), states: fc.constantFrom(['RUNNING'], ['FINISHED', 'FAILED']) }),
  fc.record({
    type: fc.constant('CALL_USAGE_THRESHOLD'),
    measure: fc.constant('cost'),
    comparison: fc.constantFrom('$gt', '$lte'),
    threshold: fc.constantFrom(0, 10, 20),
  }),
  fc.record({ type: fc.constant('ADD_ARTIFACT_ALIAS'), alias_pattern: fc.constantFrom('^prod', '.') }),
)

const content = fc
  .tuple(condition, payload, fc.constantFrom(null, { name_pattern: '1$' }), fc.constantFrom('w', 'v'))
  .map(([event, payload, run_filters, webhook]) => contentOf(event, { payload, run_filters, webhook }))

interface Deed {
  readonly hours: number
  readonly stream: string
  readonly type: string
  readonly data: JsonObject
}

const run = fc.constantFrom('r1', 'r1', 'r2')
const ofRun = (run_id: string) => ({ run_id, project_id: 'team/p', name: `exp-${run_id}`, user: 'ada' })
const streamOf = (run_id: string) => `run-team/p/${run_id}`

const deed = (happened: fc.Arbitrary<Omit<Deed, 'hours'>>): fc.Arbitrary<Deed> =>
  fc.tuple(happened, fc.constantFrom(0, 0, 0, 5, 12, 24)).map(([rest, hours]) => ({ ...rest, hours }))

const project: PriceOwner = { project_id: 'team/p', list: null }
const priceId = fc.constantFrom('a', 'b', 'c')

const ofPrices = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(priceId, fc.constantFrom('1', '3'), fc.constantFrom('2026-01-01', '2026-01-03'), fc.boolean())
      .map(([id, cost, day, isDefault]) => {
        const owner: PriceOwner = isDefault ? { project_id: null, list: 'default' } : project
        const costs = { prompt_token_cost: cost, completion_token_cost: '0' }
        const created = {
          created_at: '2026-01-01T00:00:00.000000Z',
          effective_date: `${day}T00:00:00.000000Z`,
        }
        const data = { ...owner, id, llm_id: 'm', ...costs, ...created }
        return { stream: priceStream(owner), type: 'PricePublished', data }
      }),
  },
  {
    weight: 1,
    arbitrary: priceId.map((id) => ({
      stream: priceStream(project),
      type: 'PriceWithdrawn',
      data: { ...project, id },
    })),
  },
)

const ofCalls = fc
  .tuple(fc.uuid(), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 4 }), fc.boolean())
  .map(([id, prompt_tokens, day, isLate]) => {
    const started_at = `2026-01-0${day}T00:00:00.000000Z`
    const end = { ended_at: started_at, usage: { models: [{ model: 'm', prompt_tokens }] } }
    const data = { project_id: 'team/p', id, trace_id: id, op_name: 'op' }
    return {
      stream: `call-team/p/${id}`,
      type: isLate ? 'CallStarted' : 'CallEnded',
      data: isLate ? { ...data, started_at, end } : { ...data, ...end, start: { trace_id: id, started_at } },
    }
  })

const happening = fc.oneof(
  { weight: 2, arbitrary: ofPrices },
  { weight: 2, arbitrary: ofCalls },
  {
    weight: 6,
    arbitrary: fc
      .tuple(run, fc.dictionary(fc.constantFrom('loss', 'speed'), value, { minKeys: 1 }))
      .map(([id, metrics]) => ({
        stream: streamOf(id),
        type: 'MetricsLogged',
        data: { ...ofRun(id), metrics },
      })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(run, fc.constantFrom('RunStarted', 'RunFinished', 'RunFailed'))
      .map(([id, type]) => ({
        stream: streamOf(id),
        type,
        data: {
          ...ofRun(id),
          ...(type === 'RunStarted' ? {} : { state: type === 'RunFailed' ? 'crashed' : 'finished' }),
        },
      })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('prod', 'production', 'test')
      .map((alias) => ({ stream: IN_PROJECT, type: 'AliasAdded', data: { ...ofProject, alias } })),
  },
)

const changing = fc.oneof(
  {
    weight: 3,
    arbitrary: content.map((one) => ({ type: 'AutomationChanged', data: { ...one, resets: true } })),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'AutomationEnabled', data: {} }) },
  { weight: 1, arbitrary: fc.constant({ type: 'AutomationDisabled', data: {} }) },
)

const ofAutomation = ({ type, data }: { readonly type: string; readonly data: object }) => ({
  stream: 'automation-a',
  type,
  data: { id: 'a', team: 'team', ...data } as JsonObject,
})

const VERSION: Deed = {
  hours: 0,
  stream: IN_PROJECT,
  type: 'VersionCreated',
  data: {
    ...ofProject,
    artifact_id: 'art',
    digest: 'd',
    type: 'model',
    metadata: { owner: 'ada' },
    files: [],
  },
}

/** A log of runs and aliases with an automation that comes into being in it; with or without changes of it. */
export const arbitraryHistory = (changes: boolean): fc.Arbitrary<readonly RecordedEvent[]> =>
  fc
    .tuple(
      fc.array(deed(happening), { minLength: 2, maxLength: 8 }),
      content,
      fc.array(
        deed(
          changes
            ? fc.oneof(
                { weight: 8, arbitrary: happening },
                { weight: 1, arbitrary: changing.map(ofAutomation) },
                {
                  weight: 1,
                  arbitrary: fc
                    .constantFrom('w', 'v')
                    .map((id) => ({
                      stream: `webhook-${id}`,
                      type: 'WebhookDeleted',
                      data: { id, team: 'team' },
                    })),
                },
              )
            : happening,
        ),
        { minLength: 15, maxLength: 60 },
      ),
    )
    .map(([before, first, after]) => {
      const created = {
        hours: 0,
        ...ofAutomation({ type: 'AutomationCreated', data: { ...first, enabled: true } }),
      }
      return placed([VERSION, ...before, ...['w', 'v'].map(webhook), created, ...after])
    })

const webhook = (id: string): Deed => ({
  hours: 0,
  stream: `webhook-${id}`,
  type: 'WebhookCreated',
  data: { id, team: 'team', name: id, url: 'https://hooks.example/', enabled: true },
})

const placed = (deeds: readonly Deed[]): readonly RecordedEvent[] => {
  const revisions = new Map<string, bigint>()
  let at = Date.parse('2026-01-01T00:00:00Z')
  const deleted = new Set<string>()
  return deeds.flatMap(({ hours, stream, type, data }, place) => {
    at += hours * HOUR
    if (deleted.has(stream)) return []
    if (type === 'WebhookDeleted') deleted.add(stream)
    const revision = (revisions.get(stream) ?? -1n) + 1n
    revisions.set(stream, revision)
    return [recorded(stream, type, data, { position: BigInt(place + 1) * 7n, at, revision })]
  })
}

/** A log to read from, as it is. */
export const logOf = (events: readonly RecordedEvent[]): Pick<EventStore, 'readStream' | 'readAll'> => ({
  async *readStream(stream, { from, backwards = false, limit = Infinity } = {}) {
    const own = events.filter((event) => event.stream === stream)
    const read = backwards
      ? own.filter(({ revision }) => from === undefined || revision <= from).reverse()
      : own.filter(({ revision }) => revision >= (from ?? 0n))
    yield* read.slice(0, limit)
  },
  async *readAll({ after = 0n, limit = Infinity } = {}) {
    yield* events.filter(({ position }) => position > after).slice(0, limit)
  },
})
