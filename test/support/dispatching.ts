import { openInMemoryBlobStore } from '../../src/adapters/blobs/in-memory-blob-store.js'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteAttemptRecords } from '../../src/adapters/attempt-records/sqlite-attempt-records.js'
import { openSqliteDispatcherState } from '../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { openInMemoryEventStore } from '../../src/adapters/event-store/in-memory.js'
import { compileRe2 } from '../../src/adapters/patterns/re2.js'
import { openInMemorySecretStore } from '../../src/adapters/secrets/in-memory-secret-store.js'
import { systemIds, hmacSha256, sha256, systemClock } from '../../src/adapters/system/system.js'
import { webhookSender } from '../../src/adapters/outgoing/webhook-sender/webhook-sender.js'
import { startDispatcher, type Dispatcher } from '../../src/dispatch/webhooks/dispatcher.js'
import type { DomainEvent } from '../../src/kernel/decider.js'
import { newEvent } from '../../src/kernel/event.js'
import type { AttemptRecords } from '../../src/kernel/ports/attempt-records.js'
import type { Clock } from '../../src/kernel/ports/clock.js'
import type { DispatcherState } from '../../src/domain/webhooks/deliveries/dispatcher-state.js'
import type { EventStore, RecordedEvent } from '../../src/kernel/ports/event-store.js'
import type { SecretStore } from '../../src/kernel/ports/secret-store.js'
import { appendNext } from './append-next.js'

export interface Dispatching {
  readonly eventStore: EventStore
  readonly secrets: SecretStore
  readonly directory: string
  readonly append: (stream: string, ...events: readonly DomainEvent[]) => Promise<void>
  /** Adds the webhook `w`, and the automation `a` that sends every new alias to it. */
  readonly addWebhook: (url: string, content?: Readonly<Record<string, unknown>>) => Promise<void>
  /** Starts a dispatcher over this log; each has a state of its own under its name. */
  readonly start: (options?: Starting) => Promise<Dispatcher>
  /** Every event of deliveries so far. */
  readonly deliveryEvents: () => Promise<readonly RecordedEvent[]>
  /** What is under way has so many milliseconds left. */
  readonly stop: (finishWithinMs?: number) => Promise<void>
}

interface Starting {
  readonly name?: string
  readonly isAlone?: boolean
  readonly clock?: Clock
  /** Another way to the same log. */
  readonly eventStore?: EventStore
  /** Comes between the dispatcher and what it keeps. */
  readonly state?: (state: DispatcherState) => DispatcherState
  readonly records?: (records: AttemptRecords) => AttemptRecords
}

const nothing = () => undefined

/** Dispatchers in this process over one log, which really send, to the loopback addresses alone. */
export const startDispatching = async (
  eventStore: EventStore = openInMemoryEventStore(),
): Promise<Dispatching> => {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-dispatching-'))
  const secrets = openInMemorySecretStore()
  const running = new Set<Dispatcher>()
  const cause = { correlationId: 'test', causationId: 'test', actor: 'ada' }
  const append: Dispatching['append'] = async (stream, ...events) => {
    await appendNext(
      eventStore,
      stream,
      events.map((event) => newEvent(systemIds.next(), event, cause)),
    )
  }

  return {
    eventStore,
    secrets,
    directory,
    append,
    addWebhook: async (url, content) => {
      await append('webhook-w', webhookCreated('w', url, content))
      await append('automation-a', automationCreated('a', 'w'))
    },
    start: async ({
      name = 'dispatcher',
      isAlone = true,
      clock = systemClock,
      eventStore: ownStore = eventStore,
      state = (itself: DispatcherState) => itself,
      records = (itself: AttemptRecords) => itself,
    } = {}) => {
      const sender = webhookSender({ allowed: { cidrs: ['127.0.0.0/8'] } })
      const dispatcher = await startDispatcher(
        {
          eventStore: ownStore,
          blobs: openInMemoryBlobStore(),
          secrets,
          clock,
          ids: systemIds,
          sha256,
          hmac: hmacSha256,
          compilePattern: compileRe2,
          state: state(openSqliteDispatcherState(join(directory, `${name}.db`))),
          records: records(openSqliteAttemptRecords(join(directory, 'attempts.db'))),
          sender,
          log: { info: nothing, warn: nothing, error: nothing },
        },
        { vendor: 'Vendor', publicUrl: null, isAlone },
      )
      const started: Dispatcher = {
        ...dispatcher,
        stop: async (finishWithinMs) => {
          if (!running.delete(started)) return
          await dispatcher.stop(finishWithinMs)
          sender.close()
        },
      }
      running.add(started)
      return started
    },
    deliveryEvents: async () => {
      const events: RecordedEvent[] = []
      for await (const event of eventStore.readAll())
        if (event.stream.startsWith('delivery-')) events.push(event)
      return events
    },
    stop: async (finishWithinMs) => {
      for (const dispatcher of running) await dispatcher.stop(finishWithinMs)
      await eventStore.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export const webhookCreated = (
  id: string,
  url: string,
  content: Readonly<Record<string, unknown>> = {},
): DomainEvent => ({
  type: 'WebhookCreated',
  data: { id, team: 'default', name: id, url, enabled: true, ...content },
})

export const automationCreated = (
  id: string,
  webhook: string,
  content: Readonly<Record<string, unknown>> = {},
): DomainEvent => ({
  type: 'AutomationCreated',
  data: {
    id,
    team: 'default',
    name: id,
    webhook,
    payload: '{"alias": "${alias}", "collection": "${artifact_collection_name}"}',
    scope: { type: 'project', entity: 'default', project: 'p' },
    event: { type: 'ADD_ARTIFACT_ALIAS' },
    enabled: true,
    ...content,
  },
})

export const COLLECTION = 'artifact-default/p/model'

export const aliasAdded = (alias: string, changed: Readonly<Record<string, unknown>> = {}): DomainEvent => ({
  type: 'AliasAdded',
  data: {
    team: 'default',
    collection: 'model',
    project_id: 'default/p',
    registry: null,
    version: 0,
    alias,
    ...changed,
  },
})
