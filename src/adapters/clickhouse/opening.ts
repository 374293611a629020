import type { ClickHouseClient } from '@clickhouse/client'
import { ClickHouseUnavailable } from '../../kernel/ports/clickhouse.js'
import type { ClickHouseAddress } from '../../kernel/ports/clickhouse-url.js'
import { retry } from '../../kernel/backoff.js'
import { portsOf } from './client.js'
import { serverError } from './translation.js'

/** How long to wait for a server that is not reachable yet, in milliseconds. */
export interface WaitOptions {
  readonly waitMs?: number
  readonly onWaiting?: (reason: string) => void
}

/** The delay does not grow, because each attempt is logged. */
const BACKOFF = { firstMs: 1000, maxMs: 1000 }

/** Retries work while the server is unreachable or busy, until the time is over. */
export const whenThere = <A>(
  { origin, username }: ClickHouseAddress,
  { waitMs = 0, onWaiting }: WaitOptions,
  work: () => Promise<A>,
): Promise<A> => {
  const until = performance.now() + waitMs
  return retry(
    work,
    (error) => {
      if (!(error instanceof ClickHouseUnavailable)) return false
      const sentence = `CLICKHOUSE_URL, ${origin} as user "${username}": ${error.message}`
      if (error.why === 'refusing' || performance.now() >= until)
        throw new ClickHouseUnavailable(error.why, sentence, { cause: error })
      onWaiting?.(sentence)
      return true
    },
    BACKOFF,
  )
}

/** Creates the database unless it exists, and closes the client. */
export const prepareDatabase = async (
  client: ClickHouseClient,
  { database }: ClickHouseAddress,
  cluster: string | undefined,
): Promise<void> => {
  const ports = portsOf(client, { translate: serverError })
  try {
    if (cluster !== undefined) {
      const sql =
        'SELECT uniqExact(shard_num) AS shards FROM system.clusters WHERE cluster = {cluster:String}'
      const [row] = await ports.query<{ shards: string }>(sql, { cluster })
      refuseCluster(cluster, Number(row?.shards ?? 0))
    }
    const where = cluster === undefined ? '' : ` ON CLUSTER ${cluster}`
    await ports.command(`CREATE DATABASE IF NOT EXISTS ${database}${where}`).catch(async (error: unknown) => {
      // A user without the right to create databases can use an existing one.
      const [there] = await ports.query<{ name: string }>(
        'SELECT name FROM system.databases WHERE name = {database:String}',
        { database },
      )
      if (there === undefined) throw error
    })
  } finally {
    await client.close()
  }
}

const refuseCluster = (cluster: string, shards: number): void => {
  const name = `CLICKHOUSE_CLUSTER: ${cluster}`
  if (shards === 0)
    throw new ClickHouseUnavailable('refusing', `${name} is not a cluster of this server (system.clusters)`)
  if (shards > 1)
    throw new ClickHouseUnavailable(
      'refusing',
      `${name} has ${shards} shards; use a cluster with one shard, because every replica must have all rows`,
    )
}
