import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openFileBlobStore } from '../../src/adapters/blobs/file-blob-store.js'
import { openKeyRing } from '../../src/adapters/secrets/key-ring.js'
import { openSqliteSecretStore } from '../../src/adapters/secrets/sqlite-secret-store.js'
import { openSqliteEventStore } from '../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { openHealth } from '../../src/application/health.js'
import { startService } from '../../src/composition/service.js'
import type { Stores } from '../../src/composition/stores.js'
import { readConfig, type Config } from '../../src/config.js'
import type { JsonObject } from '../../src/kernel/json/json.js'
import type { ClickHouse } from '../../src/kernel/ports/clickhouse.js'
import type { HealthReports } from '../../src/kernel/ports/health.js'
import type { Log } from '../../src/kernel/ports/log.js'
import { askingAgain } from './asking-again.js'
import { openTestClickHouse } from './engine.js'
import { scratchDirectory } from './scratch.js'

export const ADMINISTRATOR_KEY = 'administrator-key-of-the-tests'

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; throws where it is none. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller says what it expects
  readonly json: <T = JsonObject>() => T
}

export interface TestService {
  readonly address: string
  readonly stores: Stores
  /** Lines that were logged. */
  readonly logged: readonly JsonObject[]
  /** Sends JSON (or, a string, as it is) with the administrator's key or another. */
  readonly send: (method: string, path: string, body?: unknown, options?: SendOptions) => Promise<Answered>
  readonly post: (path: string, body: unknown, options?: SendOptions) => Promise<Answered>
  readonly stop: () => Promise<void>
}

export interface SendOptions {
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** The whole service in this process, over real stores in a scratch directory and a database of its own. */
export const startTestService = async (
  environment: Record<string, string> = {},
  openClickHouse: (health: HealthReports) => Promise<ClickHouse> = openTestClickHouse,
  configure: (config: Config) => Config = (config) => config,
): Promise<TestService> => {
  const directory = await scratchDirectory()
  const logged: JsonObject[] = []
  const note = (level: string) => (event: string, fields?: JsonObject) =>
    void logged.push({ level, event, ...fields })
  const log: Log = { info: note('info'), warn: note('warn'), error: note('error') }
  const health = openHealth(log)
  const stores: Stores = {
    health,
    eventStore: openSqliteEventStore(join(directory, 'events.db'), health),
    blobs: openFileBlobStore(join(directory, 'blobs'), health),
    clickHouse: await openClickHouse(health),
    secrets: await openSqliteSecretStore(
      join(directory, 'secrets.db'),
      openKeyRing([], join(directory, 'master-keys')),
    ),
  }
  const config = configure(
    readConfig({
      TALLYTREE_PORT: '0',
      TALLYTREE_DATA_DIR: directory,
      TALLYTREE_BOOTSTRAP_API_KEY: ADMINISTRATOR_KEY,
      // The upstreams of tests are on this machine.
      TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8',
      ...environment,
    }),
  )
  const service = await startService(config, stores, log)

  const sendOnce = async (
    method: string,
    path: string,
    body?: unknown,
    options: SendOptions = {},
  ): Promise<Answered> => {
    const { key = ADMINISTRATOR_KEY, headers = {}, signal } = options
    const response = await fetch(`${service.address}${path}`, {
      method,
      ...(signal === undefined ? {} : { signal }),
      headers: {
        ...(key === null ? {} : { authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const json = (() => JSON.parse(text) as unknown) as Answered['json']
    return { status: response.status, headers: response.headers, text, json }
  }

  const send = askingAgain(sendOnce)

  return {
    address: service.address,
    stores,
    logged,
    send,
    post: (path, body, options) => send('POST', path, body, options),
    stop: async () => {
      await service.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
