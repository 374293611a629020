import { randomUUID } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import { createClient, type ClickHouseClient, type ClickHouseClientConfigOptions } from '@clickhouse/client'
import {
  ClickHouseUnavailable,
  type ClickHouse,
  type ClickHouseReads,
  type Rows,
} from '../../kernel/ports/clickhouse.js'
import { noHealthReports, type HealthReports } from '../../kernel/ports/health.js'
import { clickHouseAddress, type ClickHouseAddress } from '../../kernel/ports/clickhouse-url.js'
import { jsonOfRows, portsOf } from './client.js'
import { firstOf, type Host } from './hosts.js'
import { watch } from './liveness.js'
import { onCluster } from './on-cluster.js'
import { prepareDatabase, type ServerLimits } from './opening.js'
import { poolOf } from './pool.js'
import { repeatingReads } from './repeated-reads.js'
import { readSettings, writeSettings, quiet, readLimits } from './settings.js'
import { refuseOthers, serverError, unanswered } from './translation.js'

interface Opening {
  /** The cluster that has the replicated tables; without it, they are on this server only. */
  readonly cluster?: string | undefined
  /** Whether rows and responses are compressed; by default unless the server is on this machine. */
  readonly compression?: boolean
  /** The time without a response after which a read fails. */
  readonly readTimeoutMs?: number
  /** The number of reads at the same time; by default by the cores of the server. */
  readonly readers?: number | undefined
  readonly health?: HealthReports
  /** The database to use in place of the one of the URL. Asked once this one exists. */
  readonly choose?: (server: ClickHouseReads, named: string) => Promise<string>
}

/** More than the server has cores for delay one another, and the inserts. A read also waits for the network and for us. */
const MAX_READERS = 8
const READERS_BEYOND_CORES = 2

/** The time without a response after which a statement fails. Tables of a cluster take longer to create. */
const WRITE_TIMEOUT_MS = 60_000
const CLUSTER_WRITE_TIMEOUT_MS = 200_000
/** The server ends a read at its time limit, but checks it only between blocks of rows. */
const READ_TIMEOUT_MS = (readLimits.max_execution_time + 5) * 1000
const PING_TIMEOUT_MS = 3000
const OPEN_TIMEOUT_MS = 10_000

/**
 * A ClickHouse server by URL, `http(s)://user:password@host:8123/database`, with its database.
 *
 * @throws ClickHouseUnavailable if it is away, or refuses the user, the database or the cluster
 */
export const openClickHouseServer = async (url: string, opening?: Opening): Promise<ClickHouse> => {
  const clickHouse = connectClickHouseServer(url, opening)
  try {
    await clickHouse.prepare()
    return clickHouse
  } catch (error) {
    await clickHouse.close()
    throw error
  }
}

/**
 * The same, before anything is sent to it: {@link ClickHouse.prepare} comes first.
 *
 * @throws ClickHouseUnavailable if the URL is wrong
 */
export const connectClickHouseServer = (url: string, opening: Opening = {}): ClickHouse => {
  const { cluster, compression, readTimeoutMs = READ_TIMEOUT_MS, readers, health = noHealthReports } = opening
  const address = addressOf(url)
  const compressed = compression ?? !isLoopback(address)
  const limits: ServerLimits = { settings: {}, cores: undefined }
  const maxReaders = readers ?? MAX_READERS
  const options = { cluster, compressed, readTimeoutMs, maxReaders, limits }
  const connect = (database: string) =>
    firstOf(address.origins.map((origin) => connectHost({ ...address, origin, database }, options)))
  let { database } = address
  let server = connect(database)
  const use = async (chosen: string) => {
    if (chosen === database) return
    const before = server
    server = connect(chosen)
    database = chosen
    await before.close()
    await server.prepare()
  }
  const onEach = cluster === undefined ? (sql: string) => sql : (sql: string) => onCluster(cluster, sql)
  const reads = repeatingReads({
    query: (...asked) => server.reads.query(...asked),
    stream: (...asked) => server.reads.stream(...asked),
  })
  return {
    get database() {
      return database
    },
    prepare: async () => {
      await server.prepare()
      await use((await opening.choose?.(server.reads, address.database)) ?? database)
    },
    away: () => server.away(),
    close: () => server.close(),
    beside: (other) =>
      openClickHouseServer(url.replace(/^(https?:\/\/[^/]*).*/i, `$1/${other}`), {
        cluster,
        compression: compressed,
        readers,
        health,
      }),
    writer: {
      command: (sql) => server.writer.command(onEach(sql)),
      insert: (rows) => server.writer.insert(rows),
      query: (...asked) => server.writer.query(...asked),
    },
    reader: poolOf(
      Array.from({ length: maxReaders }, () => reads),
      health,
      () => readers ?? Math.min(MAX_READERS, (limits.cores ?? MAX_READERS) + READERS_BEYOND_CORES),
    ),
  }
}

interface HostOptions extends Pick<Opening, 'cluster'> {
  readonly compressed: boolean
  readonly readTimeoutMs: number
  readonly maxReaders: number
  /** On all hosts. */
  readonly limits: ServerLimits
}

const connectHost = (
  address: ClickHouseAddress,
  { cluster, compressed, readTimeoutMs, maxReaders, limits }: HostOptions,
): Host => {
  const isCluster = cluster !== undefined
  const { database } = address
  const pinging = clientFor(address, { request_timeout: PING_TIMEOUT_MS, max_open_connections: 1 })
  const writing = clientFor(address, {
    database,
    clickhouse_settings: writeSettings(isCluster),
    request_timeout: isCluster ? CLUSTER_WRITE_TIMEOUT_MS : WRITE_TIMEOUT_MS,
    max_open_connections: 4,
    compression: { request: compressed ? { codec: 'gzip', level: 1 } : false },
  })
  const reading = clientFor(address, {
    database,
    clickhouse_settings: readSettings(isCluster),
    request_timeout: readTimeoutMs,
    max_open_connections: maxReaders,
    compression: { response: compressed },
  })
  const liveness = watch(() => whyAway(pinging))
  const ways = {
    translate: serverError,
    checked: refuseOthers,
    sending: () => ({ abort_signal: liveness.signal() }),
  }
  return {
    prepare: async () => {
      const client = clientFor(address, {
        request_timeout: isCluster ? CLUSTER_WRITE_TIMEOUT_MS : OPEN_TIMEOUT_MS,
      })
      Object.assign(limits, await prepareDatabase(client, address, cluster))
    },
    writer: portsOf(writing, { ...ways, inserting: sameIdWhenRepeated() }),
    reads: portsOf(reading, {
      ...ways,
      sending: () => ({ ...ways.sending(), clickhouse_settings: limits.settings }),
    }),
    away: liveness.away,
    close: async () => {
      await liveness.stop()
      for (const client of [pinging, writing, reading]) await client.close()
    },
  }
}

const addressOf = (url: string): ClickHouseAddress => {
  const address = clickHouseAddress(url)
  if (E.isLeft(address)) throw new ClickHouseUnavailable('refusing', `CLICKHOUSE_URL: ${address.left}`)
  return address.right
}

const isLoopback = ({ origin }: ClickHouseAddress): boolean =>
  /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(origin).hostname)

const clientFor = (
  { origin, username, password }: ClickHouseAddress,
  options: ClickHouseClientConfigOptions,
): ClickHouseClient =>
  createClient({
    url: origin,
    username,
    password,
    log: quiet,
    json: jsonOfRows,
    keep_alive: { eagerly_destroy_stale_sockets: true },
    ...options,
  })

/** Any response will do, even an error. */
const whyAway = async (client: ClickHouseClient): Promise<string | undefined> => {
  const pinged = await client.ping()
  return pinged.success ? undefined : unanswered(pinged.error)
}

type Insert = (sending: { readonly query_id: string }) => Promise<void>

/**
 * Repeats an insert of unknown outcome under the same query id: with `replace_running_query` the server cancels the first
 * attempt, so that retries do not add load to a slow server.
 */
const sameIdWhenRepeated = () => {
  const unknown = new Map<string, string>()
  return async ({ table }: Rows, insert: Insert): Promise<void> => {
    const query_id = unknown.get(table) ?? randomUUID()
    try {
      await insert({ query_id })
      unknown.delete(table)
    } catch (error) {
      if (error instanceof ClickHouseUnavailable) unknown.set(table, query_id)
      else unknown.delete(table)
      throw error
    }
  }
}
