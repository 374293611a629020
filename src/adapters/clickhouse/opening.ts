import { ClickHouseError, type ClickHouseClient, type ClickHouseSettings } from '@clickhouse/client'
import {
  ClickHouseUnavailable,
  ReadTooExpensive,
  type ClickHouseReads,
  type ClickHouseWriter,
} from '../../kernel/ports/clickhouse.js'
import type { ClickHouseAddress } from '../../kernel/ports/clickhouse-url.js'
import { portsOf } from './client.js'
import { readLimits } from './settings.js'
import { isOfClickHouse, refuseOthers, serverError } from './translation.js'

type Ports = ClickHouseWriter & ClickHouseReads

/** What a server allows and has. */
export interface ServerLimits {
  /** The limits of reads that the user's profile makes smaller. */
  readonly settings: ClickHouseSettings
  /** Undefined where the user's profile sets the number of threads. */
  readonly cores: number | undefined
}

/**
 * Creates the database unless it exists, and closes the client.
 *
 * @throws ClickHouseUnavailable `refusing` for what only an operator can repair
 */
export const prepareDatabase = async (
  client: ClickHouseClient,
  address: ClickHouseAddress,
  cluster: string | undefined,
): Promise<ServerLimits> => {
  const ports = portsOf(client, { translate: serverError, checked: refuseOthers })
  try {
    await requireVersion(ports)
    if (cluster !== undefined) await requireCluster(ports, cluster)
    await createDatabase(ports, address, cluster)
    return await limitsOf(ports)
  } catch (error) {
    throw await withAddress(error, address)
  } finally {
    await client.close()
  }
}

/** The first release with CoalescingMergeTree. */
const OLDEST = [25, 6] as const

const requireVersion = async (ports: Ports): Promise<void> => {
  const [row] = await ports.query<{ version?: string }>('SELECT version() AS version')
  const [major = 0, minor = 0] = row?.version?.split('.').map(Number) ?? OLDEST
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    throw new ClickHouseUnavailable(
      'refusing',
      `ClickHouse ${OLDEST.join('.')} or later is needed, and this server is ${row?.version ?? ''}`,
    )
}

const requireCluster = async (ports: Ports, cluster: string): Promise<void> => {
  const sql = 'SELECT uniqExact(shard_num) AS shards FROM system.clusters WHERE cluster = {cluster:String}'
  const [row] = await ports.query<{ shards: string }>(sql, { cluster })
  const shards = Number(row?.shards ?? 0)
  const name = `CLICKHOUSE_CLUSTER: ${cluster}`
  if (shards === 0)
    throw new ClickHouseUnavailable('refusing', `${name} is not a cluster of this server (system.clusters)`)
  if (shards > 1)
    throw new ClickHouseUnavailable(
      'refusing',
      `${name} has ${shards} shards; use a cluster with one shard, because every replica must have all rows`,
    )
}

const createDatabase = async (
  ports: Ports,
  { database }: ClickHouseAddress,
  cluster: string | undefined,
): Promise<void> => {
  const where = cluster === undefined ? '' : ` ON CLUSTER ${cluster}`
  await ports.command(`CREATE DATABASE IF NOT EXISTS ${database}${where}`).catch(async (error: unknown) => {
    if (!(error instanceof ClickHouseUnavailable) || error.why !== 'refusing') throw error
    // A user without the right to create databases can use an existing one.
    const [there] = await ports.query<{ name: string }>(
      'SELECT name FROM system.databases WHERE name = {database:String}',
      { database },
    )
    if (there === undefined) throw error
  })
}

/** Where 0 is no limit, so that the value of the profile is a limit too. */
const UNLIMITED_BY_DEFAULT: readonly string[] = ['max_execution_time', 'max_memory_usage']

/** A server refuses every statement that sets more than the profile of its user allows. */
const limitsOf = async (ports: Ports): Promise<ServerLimits> => {
  const rows = await ports.query<{ name: string; value: string; max: string | null }>(
    'SELECT name, value, max FROM system.settings WHERE name IN {names:Array(String)}',
    { names: [...Object.keys(readLimits), 'max_threads'] },
  )
  const threads = rows.find(({ name }) => name === 'max_threads')?.value ?? ''
  const smaller = rows.flatMap(({ name, value, max }) => {
    if (!Object.hasOwn(readLimits, name)) return []
    const ours = Number(readLimits[name as keyof typeof readLimits])
    const limits = [max === null ? 0 : Number(max), UNLIMITED_BY_DEFAULT.includes(name) ? Number(value) : 0]
    const least = Math.min(ours, ...limits.filter((limit) => limit > 0))
    return least < ours ? [[name, String(least)]] : []
  })
  return {
    settings: Object.fromEntries(smaller) as ClickHouseSettings,
    cores: /auto\((\d+)\)/.exec(threads)?.slice(1).map(Number)[0],
  }
}

/** The error with variable and address; `refusing` where another try would fail like this one. */
const withAddress = async (error: unknown, address: ClickHouseAddress): Promise<unknown> => {
  const cause = await unavailable(error, address)
  if (!(cause instanceof ClickHouseUnavailable)) return cause
  const { origin, username } = address
  return new ClickHouseUnavailable(
    cause.why,
    `CLICKHOUSE_URL, ${origin} as user "${username}": ${cause.message}`,
    { cause },
  )
}

const unavailable = async (error: unknown, { origin }: ClickHouseAddress): Promise<unknown> => {
  if (error instanceof ReadTooExpensive)
    return new ClickHouseUnavailable('away', 'ClickHouse cannot be reached (timeout)')
  if (error instanceof ClickHouseError)
    return new ClickHouseUnavailable('refusing', `ClickHouse failed: ${error.type ?? ''} (${error.code})`)
  if (!(error instanceof ClickHouseUnavailable) || error.why !== 'away') return error
  const hint = HINTS.find(([codes]) => codes.test(codeOf(error.cause)))?.[1]
  if (hint !== undefined) return new ClickHouseUnavailable('refusing', `${error.message}: ${hint}`)
  if (!error.message.includes('another server')) return error
  const status = await otherStatus(origin)
  return status === undefined
    ? error
    : new ClickHouseUnavailable(
        'refusing',
        `another server, not ClickHouse, responds at this address (status ${status}): correct host and port`,
      )
}

const HINTS: readonly (readonly [codes: RegExp, hint: string])[] = [
  [
    /^(EPROTO|ERR_SSL_|ERR_TLS_)/,
    'use http:// for a port without TLS, and a name of the certificate as host',
  ],
  [/CERT/, 'NODE_EXTRA_CA_CERTS names a file with its certificate authority'],
  [/^HPE_/, 'the port does not speak HTTP: use that of HTTP (8123), or https:// for one with TLS (8443)'],
]

const codeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause ? String(cause.code) : ''

/** The status of another server that is no gateway whose ClickHouse is away. */
const otherStatus = async (origin: string): Promise<number | undefined> => {
  const signal = AbortSignal.timeout(STATUS_WITHIN_MS)
  const response = await fetch(origin, {
    method: 'POST',
    body: 'SELECT 1',
    redirect: 'manual',
    signal,
  }).catch(() => undefined)
  await response?.body?.cancel()
  if (response === undefined || response.status >= 500 || response.status === 429) return undefined
  return isOfClickHouse(Object.fromEntries(response.headers)) ? undefined : response.status
}

const STATUS_WITHIN_MS = 5000
