import { createClient, type ClickHouseClientConfigOptions } from '@clickhouse/client'
import { drainPending } from 'chdb'
import type { ClickHouse } from '../../domain/ports/clickhouse.js'
import { noHealthReports } from '../../domain/ports/health.js'
import { portsOf } from './client.js'
import { EmbeddedConnection } from './embedded-connection.js'
import { poolOf } from './pool.js'
import { jsonFormat, quiet, readLimits } from './settings.js'

const READERS = 3

/** How many databases are open in the one engine of this process. */
let databases = 0

/**
 * The ClickHouse engine in this process, over a data directory of its own. One engine a process: a second directory
 * is refused while one is open. A connection runs one statement at a time, so the projector has its own and reads
 * share a few.
 */
export const openEmbeddedClickHouse = async (
  directory: string,
  database = 'tallytree',
  health = noHealthReports,
): Promise<ClickHouse> => {
  const connect = () =>
    createClient({ connection: asConnection(new EmbeddedConnection(directory)), log: quiet })
  const writing = connect()
  endWhenAborted()
  await writing.command({ query: `CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic` })
  const reading = Array.from({ length: READERS }, connect)
  const all = [writing, ...reading]
  for (const client of all) await client.command({ query: `USE ${database}` })
  for (const client of reading)
    for (const [name, value] of Object.entries(readLimits))
      await client.command({ query: `SET ${name} = ${value}` })
  for (const client of all)
    for (const [name, value] of Object.entries(jsonFormat))
      await client.command({ query: `SET ${name} = ${value}` })
  databases += 1
  return {
    writer: portsOf(writing),
    reader: poolOf(
      reading.map((client) => portsOf(client)),
      health,
    ),
    database,
    beside: (other) => openEmbeddedClickHouse(directory, other, health),
    away: () => undefined,
    close: async () => {
      for (const client of all) await client.close()
      databases -= 1
      // What somebody gave up is still at work, and connections close behind it. A process that ended now might hang.
      if (databases === 0) await drainPending()
    },
  }
}

/**
 * The engine answers an abort by waiting, so that a process out of memory would keep its port and its log and serve nobody.
 * With a handler of our own in its place the abort goes through; ours runs only where somebody else sent the signal.
 */
const endWhenAborted = () => {
  process.off('SIGABRT', killThisProcess)
  process.on('SIGABRT', killThisProcess)
}

const killThisProcess = () => void process.kill(process.pid, 'SIGKILL')

/** The engine's binding and the client each carry a copy of the same interface. */
const asConnection = (connection: EmbeddedConnection) =>
  connection as unknown as NonNullable<ClickHouseClientConfigOptions['connection']>
