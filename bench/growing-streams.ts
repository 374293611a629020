import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openInMemoryBlobStore } from '../src/adapters/blobs/in-memory-blob-store.js'
import { openSqliteEventStore } from '../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { sha256 } from '../src/adapters/system/system.js'
import { openAccess } from '../src/application/access/access.js'
import { openCollections } from '../src/application/artifacts/collections.js'
import { openRuns } from '../src/application/runs/runs.js'
import { openTrainedModels } from '../src/application/training/trained-models.js'
import { accessDecider } from '../src/domain/access/decider.js'
import { annotationQueueDecider } from '../src/domain/annotation-queues/queue.js'
import { artifactDecider } from '../src/domain/artifacts/decider.js'
import { collectionStream } from '../src/domain/artifacts/place.js'
import { runDecider } from '../src/domain/runs/decider.js'
import { registryDecider } from '../src/domain/artifacts/registry.js'
import { evaluationRuleDecider } from '../src/domain/evaluations/rules/rule.js'
import { limitDecider } from '../src/domain/gateway/limits/limits.js'
import { upstreamDecider } from '../src/domain/gateway/upstreams/decider.js'
import { objectDecider } from '../src/domain/objects/decider.js'
import { priceDecider } from '../src/domain/prices/decider.js'
import { projectDecider } from '../src/domain/projects/project.js'
import { secretDecider } from '../src/domain/secrets/secret.js'
import { trainedModelDecider } from '../src/domain/training/decider.js'
import { workerDecider } from '../src/domain/training/workers.js'
import { automationDecider } from '../src/domain/webhooks/automations/decider.js'
import { webhookDecider } from '../src/domain/webhooks/webhook.js'
import { namesDecider } from '../src/domain/webhooks/names/names.js'
import type { Decider, DomainEvent } from '../src/kernel/decider.js'
import { newEvent } from '../src/kernel/event.js'
import { execute } from '../src/kernel/execute.js'
import type { EventStore } from '../src/kernel/ports/event-store.js'
import { ratio } from './support/report.js'

/**
 * How much more CPU time does a write to a stream that only grows take once it has ENTRIES=20000 events, compared with 10? ONLY names
 * one stream.
 */
const ENTRIES = Number(process.env['ENTRIES'] ?? 20_000)
const WARM_UP = 300
const WRITES = 300
const GOAL = 2

const cause = { correlationId: 'bench', causationId: 'bench', actor: 'bench' }
const now = '2026-01-01T00:00:00.000000Z'
const project_id = 'team/project'
const project = { project_id }

const log = { warn: () => undefined }
const clock = { now: () => new Date(now) }
const portsOf = (eventStore: EventStore) => ({
  eventStore,
  ids: { next: () => randomUUID() },
  clock,
  sha256,
  log,
  blobs: openInMemoryBlobStore(),
})
type Ports = ReturnType<typeof portsOf>

/* eslint-disable @typescript-eslint/no-explicit-any -- commands of all streams */
interface Row {
  readonly name: string
  readonly stream: string
  readonly decider: Decider<any, any, any>
  /** Commands that bring about what the others need. */
  readonly first?: readonly any[]
  /** Each writes at least one event. */
  readonly command: (n: number) => any
  /** How the service runs a command; usually `execute`. */
  readonly open?: (ports: Ports) => Promise<(command: any) => Promise<unknown>>
}

const key = (n: number) => ({
  key_id: `key-${n}`,
  name: null,
  prefix: 'tt',
  hash: sha256(String(n)),
  issued_at: now,
  kind: 'key',
  scope: 'all',
  expires_at: null,
  made_by: null,
})

const throughAccess: Row['open'] = async (ports) => {
  const access = await openAccess(ports)
  return (command) => access.run(command, cause)
}

const bootstrap = {
  type: 'Bootstrap',
  user: 'admin',
  team: 'team',
  key: { ...key(0), key_id: 'first', hash: 'first' },
}

const price = (n: number) => ({
  llm_id: `model-${n}`,
  provider_id: 'default',
  prompt_token_cost: '0.1',
  completion_token_cost: '0.2',
  prompt_token_cost_unit: 'USD',
  completion_token_cost_unit: 'USD',
  effective_date: now,
})

const place = { team: 'team', project_id, collection: 'model', registry: null } as const

const webhook = (n: number) => ({
  name: 'hook',
  description: `${n}`,
  url: 'https://example.com',
  headers: {},
})

const rows: readonly Row[] = [
  {
    name: 'keys of one user',
    stream: 'access-directory',
    decider: accessDecider,
    first: [bootstrap],
    command: (n) => ({ type: 'IssueApiKey', user: 'admin', key: key(n) }),
    open: throughAccess,
  },
  {
    name: 'sessions of one user',
    stream: 'access-directory',
    decider: accessDecider,
    first: [bootstrap],
    command: (n) => ({
      type: 'IssueApiKey',
      user: 'admin',
      key: {
        ...key(n),
        kind: 'session',
        issued_at: new Date(Date.parse(now) + n * 3_600_000).toISOString(),
        expires_at: new Date(Date.parse(now) + (n + 12) * 3_600_000).toISOString(),
        made_by: 'first',
      },
    }),
    open: throughAccess,
  },
  {
    name: 'users of a team',
    stream: 'access-directory',
    decider: accessDecider,
    first: [bootstrap],
    command: (n) => ({
      type: 'AddMember',
      by: 'admin',
      team: 'team',
      user: `user-${n}`,
      roles: ['member'],
      keyOfNewUser: key(n),
    }),
    open: throughAccess,
  },
  {
    name: 'names of a team',
    stream: 'names-team',
    decider: namesDecider,
    command: (n) => ({
      type: 'TakeName',
      team: 'team',
      kind: 'webhook',
      name: `n-${n}`,
      id: `${n}`,
      from: null,
    }),
  },
  {
    name: 'upstreams',
    stream: 'upstreams',
    decider: upstreamDecider(),
    command: (n) => ({
      type: 'CreateUpstream',
      id: `${n}`,
      team: `team-${n % 100}`,
      content: {
        name: `up-${n}`,
        models: [{ id: `model-${n}`, aliases: [], upstream_id: 'm', price: null }],
      },
    }),
  },
  {
    name: 'changes of an upstream',
    stream: 'upstreams',
    decider: upstreamDecider(),
    first: [{ type: 'CreateUpstream', id: 'one', team: 'team', content: { name: 'up', models: [] } }],
    command: (n) => ({ type: 'ChangeUpstream', id: 'one', team: 'team', change: { timeout_s: n + 1 } }),
  },
  {
    name: 'limits of a team',
    stream: 'limits-team',
    decider: limitDecider,
    command: (n) => ({
      type: 'ChooseLimit',
      team: 'team',
      scope: { type: 'key', project: null, key: `key-${n}` },
      content: { requests_per_minute: 5, tokens_per_minute: null, concurrency: null, budget: null },
    }),
  },
  {
    name: 'prices of a project',
    stream: 'price-team/project',
    decider: priceDecider,
    command: (n) => ({
      type: 'PublishPrices',
      owner: { project_id, list: null },
      prices: [{ id: `${n}`, price: price(n) }],
      userId: 'u',
      now,
    }),
  },
  {
    name: 'settings of a project',
    stream: 'project-team/project',
    decider: projectDecider,
    command: (n) => ({ type: 'ChooseRecording', ...project, record: n % 2 === 0 ? 'usage' : 'all' }),
  },
  {
    name: 'changes of a rule',
    stream: 'evaluation_rules-team/project',
    decider: evaluationRuleDecider,
    first: [{ type: 'CreateEvaluationRule', ...project, id: 'one', rule: { name: 'rule' } }],
    command: (n) => ({ type: 'ChangeEvaluationRule', ...project, id: 'one', change: { name: `rule-${n}` } }),
  },
  {
    name: 'versions of an object',
    stream: 'object-team/project/name',
    decider: objectDecider,
    command: (n) => ({
      type: 'PublishObject',
      content: {
        ...project,
        object_id: 'name',
        digest: `digest-${n}`,
        kind: 'object',
        created_at: now,
        val: n,
      },
    }),
  },
  {
    name: 'versions of a secret',
    stream: 'secret-team/NAME',
    decider: secretDecider,
    command: (n) => ({
      type: 'StoreSecret',
      team: 'team',
      name: 'NAME',
      version: n + 1,
      request: `${n}`,
      usedFor: null,
    }),
  },
  {
    name: 'changes of an annotation queue',
    stream: 'annotation_queue-team/project/one',
    decider: annotationQueueDecider,
    first: [
      {
        type: 'CreateAnnotationQueue',
        ...project,
        id: 'one',
        content: { name: 'q', description: '', scorer_refs: [] },
        userId: 'u',
        now,
      },
    ],
    command: (n) => ({
      type: 'ChangeAnnotationQueue',
      ...project,
      id: 'one',
      change: { name: `q-${n}` },
      now,
    }),
  },
  {
    name: 'tests of a webhook',
    stream: 'webhook-one',
    decider: webhookDecider,
    first: [{ type: 'CreateWebhook', id: 'one', team: 'team', content: webhook(0), enabled: true }],
    command: (n) => ({ type: 'RecordTest', id: 'one', team: 'team', status: 200, duration_ms: n }),
  },
  {
    name: 'changes of an automation',
    stream: 'automation-one',
    decider: automationDecider,
    first: [{ type: 'CreateAutomation', id: 'one', team: 'team', content: webhook(0), enabled: true }],
    command: (n) => ({
      type: 'ChangeAutomation',
      id: 'one',
      team: 'team',
      edition: n,
      content: webhook(n + 1),
      enabled: null,
    }),
  },
  {
    name: 'workers',
    stream: 'training-workers',
    decider: workerDecider,
    command: (n) => ({
      type: 'RegisterWorker',
      worker: { worker: `user/w-${n}`, base_models: ['a/b'], teams: ['team'] },
    }),
  },
  {
    name: 'registries of a team',
    stream: 'registry-team',
    decider: registryDecider,
    command: (n) => ({ type: 'CreateRegistry', team: 'team', registry: `r-${n}`, id: `${n}` }),
  },
  {
    name: 'metrics of a run',
    stream: 'run-team/project/one',
    decider: runDecider,
    first: [{ type: 'StartRun', ...project, run_id: 'one', name: 'run', user: 'u', now }],
    command: (n) => ({ type: 'LogMetrics', ...project, run_id: 'one', metrics: { loss: n }, step: n, now }),
    open: (ports) => {
      const runs = openRuns(ports)
      return Promise.resolve((command) => runs.write(command, cause))
    },
  },
  {
    name: 'versions of a collection',
    stream: collectionStream(place),
    decider: artifactDecider,
    command: (n) => ({
      type: 'CreateVersion',
      place,
      artifact_id: `id-${n}`,
      digest: `digest-${n}`,
      artifactType: 'model',
      metadata: {},
      files: [],
      uploaded: null,
      aliases: ['latest'],
      now,
    }),
    open: (ports) => {
      const { write } = openCollections(ports)
      return Promise.resolve((command) => write(command, cause))
    },
  },
  {
    name: 'jobs of a trained model',
    stream: 'trained_model-one',
    decider: trainedModelDecider,
    first: [
      {
        type: 'CreateModel',
        model_id: 'one',
        ...project,
        name: 'm',
        base_model: 'a/b',
        returnExisting: true,
        now,
      },
    ],
    command: (n) =>
      n % 2 === 0
        ? { type: 'QueueJob', job_id: `${n}`, kind: 'rl', base_model: 'a/b', now }
        : { type: 'CancelJob', job_id: `${n - 1}`, now },
    open: (ports) => {
      const models = openTrainedModels(ports)
      return Promise.resolve((command) => models.write('one', command, cause, () => undefined))
    },
  },
]
/* eslint-enable @typescript-eslint/no-explicit-any */

const APPENDED_AT_ONCE = 1000

/** Appends what the decider makes of the commands, without the cost of a write each. */
const seed = async (
  eventStore: EventStore,
  { stream, decider, first = [], command }: Row,
  entries: number,
) => {
  let state: unknown = decider.initialState()
  const events: DomainEvent[] = []
  const commands = [...first, ...Array.from({ length: entries }, (_, n) => command(n) as unknown)]
  for (const one of commands)
    for (const event of decider.decide(state, one).events as DomainEvent[]) {
      // The event of the log is another object than that of the fold.
      events.push(structuredClone(event))
      state = decider.evolve(state, event)
    }
  for (let at = 0; at < events.length; at += APPENDED_AT_ONCE) {
    const some = events.slice(at, at + APPENDED_AT_ONCE)
    const recorded = some.map((event) => newEvent(randomUUID(), event, cause))
    await eventStore.append(stream, at === 0 ? 'none' : BigInt(at - 1), recorded)
  }
}

/** CPU time of a write in milliseconds, without the first ones: they fold the stream and compile the code. */
const timeOf = async (row: Row, entries: number): Promise<number> => {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-growing-'))
  const eventStore = openSqliteEventStore(join(directory, 'events.db'))
  try {
    await seed(eventStore, row, entries)
    const ports = portsOf(eventStore)
    const usual = (command: unknown) => execute(ports)(row.decider, row.stream, [command], cause)
    const run = row.open === undefined ? usual : await row.open(ports)
    let before = process.cpuUsage()
    for (let n = 0; n < WARM_UP + WRITES; n += 1) {
      if (n === WARM_UP) before = process.cpuUsage()
      const { events, refusals } = (await run(row.command(entries + n))) as Awaited<ReturnType<typeof usual>>
      if (events.length === 0) throw new Error(`${row.name}: ${refusals.get(0)?.reason ?? 'wrote nothing'}`)
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 / WRITES
  } finally {
    await eventStore.close()
    await rm(directory, { recursive: true, force: true })
  }
}

const only = process.env['ONLY']

for (const row of rows.filter(({ name }) => only === undefined || name === only)) {
  const few = await timeOf(row, 10)
  const many = await timeOf(row, ENTRIES)
  const factor = many / few
  ratio(row.name, factor, `≤ ${GOAL}`, factor <= GOAL, `${few.toFixed(2)} → ${many.toFixed(2)} ms a write`)
}
