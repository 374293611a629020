import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { openInMemoryEventStore } from '../../../../../../src/adapters/event-store/in-memory.js'
import {
  variablesFor,
  type MessageContext,
} from '../../../../../../src/domain/webhooks/automations/matching/variables.js'
import { findVersionInfo } from '../../../../../../src/domain/webhooks/automations/matching/version-info.js'
import type { JsonObject } from '../../../../../../src/kernel/json/json.js'
import type { RecordedEvent } from '../../../../../../src/kernel/ports/event-store.js'
import {
  COMMON_VARIABLES,
  fieldsFor,
} from '../../../../../../src/domain/webhooks/automations/condition-fields.js'
import { VARIABLE_NAMES } from '../../../../../../src/domain/webhooks/templates/variables.js'
import { parseTemplate } from '../../../../../../src/domain/webhooks/templates/parse.js'
import { redacted, render } from '../../../../../../src/domain/webhooks/templates/render.js'
import {
  IN_PROJECT,
  IN_REGISTRY,
  metricsEvent,
  ofProject,
  ofRegistry,
  recorded,
  runEvent,
  runFinished,
  scoreGiven,
  triggerFrom,
} from './given.js'

const shown = { version: 3, artifact_id: '517889887', metadata: { size: 7, none: null, nested: { a: 1 } } }

const templateOf = (names: readonly string[]) => {
  const parsed = parseTemplate(`[${names.map((name) => `\${${name}}`).join()}]`, {
    accessToken: null,
    secret: null,
  })
  return E.isRight(parsed) ? parsed.right : assert.fail(parsed.left.msg)
}
const variables = (names: readonly string[], event: RecordedEvent, context: Partial<MessageContext> = {}) =>
  variablesFor(templateOf(names), triggerFrom(event), {
    eventType: 'ADD_ARTIFACT_ALIAS',
    figure: null,
    shown,
    vendor: 'Vendor',
    publicUrl: 'https://traces.example',
    ...context,
  })

const added = recorded(IN_PROJECT, 'AliasAdded', { ...ofProject, alias: 'prod' })

describe('the variables of a message', () => {
  it('are those of an evaluation run, or of the call that has a score', () => {
    const names = ['project_name', 'run_id', 'run_name', 'run_state', 'call_id', 'reason']
    assert.deepEqual(variables(names, runFinished({ outcome: 'failed', error: 'no scorer' })), {
      project_name: 'p',
      run_id: 'r',
      run_name: 'nightly',
      run_state: 'failed',
      call_id: 'r',
      reason: 'no scorer',
    })
    assert.deepEqual(variables(names, scoreGiven(1)), { project_name: 'p', call_id: 'c' })
  })

  it('link to the page of a call where people reach the service', () => {
    const callUrl = (id: string) => ({ call_url: `https://traces.example/team/p/calls/${id}` })
    assert.deepEqual(variables(['call_url'], runFinished()), callUrl('r'))
    assert.deepEqual(variables(['call_url'], scoreGiven(1)), callUrl('c'))
    assert.deepEqual(variables(['call_url'], scoreGiven(1), { publicUrl: null }), {})
    assert.deepEqual(variables(['call_url'], added), {})
  })

  it('tell of an artifact what the specification says', () =>
    assert.deepEqual(
      variables(
        [
          'project_name',
          'entity_name',
          'event_type',
          'event_author',
          'alias',
          'tag',
          'artifact_collection_name',
          'artifact_version',
          'artifact_version_string',
          'artifact_metadata.size',
          'artifact_metadata.none',
          'artifact_metadata.nested',
        ],
        added,
      ),
      {
        project_name: 'p',
        entity_name: 'team',
        event_type: 'ADD_ARTIFACT_ALIAS',
        event_author: 'ada',
        alias: 'prod',
        tag: '',
        artifact_collection_name: 'model',
        artifact_version: 'vendor-artifact://_id/QXJ0aWZhY3Q6NTE3ODg5ODg3',
        artifact_version_string: 'team/p/model:prod',
        'artifact_metadata.size': 7,
        'artifact_metadata.none': null,
        'artifact_metadata.nested': { a: 1 },
      },
    ))

  it('have the registry in the place of a project, and the number where there is no alias', () => {
    const tagged = recorded(IN_REGISTRY, 'TagAdded', { ...ofRegistry, tag: 't' })
    assert.deepEqual(variables(['project_name', 'artifact_version_string', 'alias', 'tag'], tagged), {
      project_name: 'models',
      artifact_version_string: 'team/models/model:v3',
      alias: '',
      tag: 't',
    })
  })

  it('tell of a run, and of the figure that was judged', () => {
    const figure = { metric_name: 'loss', metric_value: 0.5, threshold: 1 }
    const names = [
      'run_id',
      'run_name',
      'metric_name',
      'metric_value',
      'threshold',
      'alias',
      'artifact_version',
    ]
    assert.deepEqual(variables(names, metricsEvent({ loss: 0.5 }), { figure, shown: undefined }), {
      run_id: 'r',
      run_name: 'exp-7',
      ...figure,
      alias: '',
    })
  })

  it('tell what a run came to, where that is the event', () => {
    const names = ['run_name', 'run_state']
    const ended = runEvent('RunFailed', { state: 'crashed', ended_at: '2026-01-01T00:00:00.000000Z' })
    assert.deepEqual(variables(names, ended), { run_name: 'exp-7', run_state: 'FAILED' })
    assert.deepEqual(variables(names, metricsEvent({ loss: 0.5 })), { run_name: 'exp-7' })
  })

  it('tell why a webhook was disabled, and why a delivery is dead', () => {
    const disabled = { id: 'w', team: 'team', reason: 'gone', depth: 1 }
    assert.deepEqual(
      variables(['webhook_id', 'reason'], recorded('webhook-w', 'WebhookDisabled', disabled)),
      { webhook_id: 'w', reason: 'gone' },
    )
    const dead = {
      delivery_id: 'd',
      team: 'team',
      attempt: 1,
      outcome: 'dead',
      phases: {},
      reason: 'exhausted',
    }
    assert.deepEqual(variables(['delivery_id', 'reason'], recorded('delivery-d', 'AttemptFinished', dead)), {
      delivery_id: 'd',
      reason: 'exhausted',
    })
    assert.deepEqual(variables(['reason'], added), {})
  })

  const figure = { metric_name: 'loss', metric_value: 0.5, threshold: 1 }
  const dead = {
    delivery_id: 'd',
    team: 'team',
    attempt: 1,
    outcome: 'dead',
    phases: {},
    reason: 'exhausted',
  }
  const ended = { ended_at: '2026-01-01T00:00:00.000000Z' }
  for (const [type, event] of [
    ['ADD_ARTIFACT_ALIAS', added],
    ['ADD_ARTIFACT_TAG', recorded(IN_PROJECT, 'TagAdded', { ...ofProject, tag: 't' })],
    ['RUN_METRIC', metricsEvent({ loss: 0.5 })],
    ['RUN_STATE', runEvent('RunFailed', { state: 'crashed', ...ended })],
    [
      'WEBHOOK_DISABLED',
      recorded('webhook-w', 'WebhookDisabled', { id: 'w', team: 'team', reason: 'gone', depth: 1 }),
    ],
    ['DELIVERY_DEAD', recorded('delivery-d', 'AttemptFinished', dead)],
    ['EVALUATION_FINISHED', runFinished({ outcome: 'failed', error: 'no scorer' })],
    ['SCORE_THRESHOLD', scoreGiven(1)],
  ] as const)
    it(`of ${type} are those that it is said to have`, () => {
      const { variables: own } = fieldsFor(type)
      const hasFigure = own.includes('metric_value')
      const all = variables(VARIABLE_NAMES, event, { eventType: type, figure: hasFigure ? figure : null })
      const known = Object.keys(all).filter((name) => all[name] !== '')
      const expected = [...COMMON_VARIABLES, ...own].filter(
        (name) => name !== 'project_name' || known.includes(name),
      )
      assert.deepEqual(known.sort(), expected.sort())
    })

  it('are only those that the template names', () =>
    assert.deepEqual(variables(['alias'], added), { alias: 'prod' }))

  it('of keys that the metadata has not are missing', () =>
    assert.deepEqual(
      variables(['artifact_metadata.__proto__', 'artifact_metadata.size.a', 'run_id'], added),
      {},
    ))

  it('that are too many for a body are cut, and render to an error all the same', () => {
    const metadata = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${i}`, '\0'.repeat(4000)]))
    const names = Object.keys(metadata).map((key) => `artifact_metadata.${key}`)
    const frozen = variables(names, added, { shown: { ...shown, metadata } })
    assert.ok(JSON.stringify(frozen).length < 320 * 1024)
    assert.deepEqual(render(templateOf(names), frozen, redacted), E.left('too_large'))
    assert.deepEqual(render(templateOf(names), variablesOf(metadata), redacted), E.left('too_large'))
  })
})

const variablesOf = (metadata: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`artifact_metadata.${key}`, value]))

describe('the version that an alias was added to', () => {
  it('is told by an earlier event of the same stream', async () => {
    const eventStore = openInMemoryEventStore()
    const created = (version: number) => ({
      id: `e${version}`,
      type: 'VersionCreated',
      metadata: added.metadata,
      data: {
        ...ofProject,
        version,
        artifact_id: `a${version}`,
        metadata: { version },
        digest: 'd',
        created_at: '2026-01-01T00:00:00.000000Z',
      },
    })
    await eventStore.append(IN_PROJECT, 'none', [created(2), created(3), created(4)])
    const at = (revision: bigint, version: number) =>
      findVersionInfo({ eventStore }, { stream: IN_PROJECT, revision }, version)
    assert.deepEqual(await at(2n, 3), { version: 3, artifact_id: 'a3', metadata: { version: 3 } })
    assert.equal(await at(0n, 3), undefined)
    assert.equal(await at(2n, 7), undefined)
  })
})
