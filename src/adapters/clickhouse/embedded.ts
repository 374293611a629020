import { statSync } from 'node:fs'
import { createClient, type ClickHouseClientConfigOptions } from '@clickhouse/client'
import { drainPending, Session } from 'chdb'
import type { ClickHouse, ClickHouseWriter } from '../../kernel/ports/clickhouse.js'
import { noHealthReports } from '../../kernel/ports/health.js'
import { makePrivateDirectory } from '../../kernel/private-files.js'
import { jsonOfRows, portsOf } from './client.js'
import { EmbeddedConnection } from './embedded-connection.js'
import { poolOf } from './pool.js'
import { jsonFormat, quiet, readLimits } from './settings.js'

const READERS = 3

/**
 * The engine looks for merges after each insert. Between inserts its defaults look at each table about once a second, and
 * correct its account of memory every 50 ms: 167 wake-ups a second with 30 tables, 11 with these.
 */
const ENGINE_ARGUMENTS = [
  '--memory_worker_period_ms=2000',
  '--background_processing_pool_thread_sleep_seconds_if_nothing_to_do=10',
  '--background_processing_pool_task_sleep_seconds_when_no_work_multiplier=2',
  '--background_streaming_processing_pool_thread_sleep_seconds_if_nothing_to_do=600',
]

/** How many databases are open in the one engine of this process. */
let databases = 0

/**
 * The ClickHouse engine in this process, with its own data directory. A process can have only one: a second directory is
 * refused while one is open. A connection runs one statement at a time, so the projector has its own and reads share a
 * few.
 */
export const openEmbeddedClickHouse = async (
  directory: string,
  database = 'tallytree',
  health = noHealthReports,
): Promise<ClickHouse> => {
  // The engine reports a path that is a file.
  if (statSync(directory, { throwIfNoEntry: false })?.isFile() !== true) makePrivateDirectory(directory)
  const clientOn = (connection: EmbeddedConnection) =>
    createClient({ connection: asConnection(connection), log: quiet, json: jsonOfRows })
  const connect = () => clientOn(new EmbeddedConnection(directory))
  // Only the connection that starts the engine can pass arguments.
  const starting = new Session(directory, { connectionArgs: ENGINE_ARGUMENTS })
  const writing = [connect(), connect(), connect()] as const
  starting.close()
  endWhenAborted()
  const prepare = async () => {
    await writing[0].command({ query: `CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic` })
  }
  await prepare()
  const readers = Array.from({ length: READERS }, () => new EmbeddedConnection(directory))
  const reading = readers.map(clientOn)
  const all = [...writing, ...reading]
  for (const client of all) await client.command({ query: `USE ${database}` })
  for (const client of reading)
    for (const [name, value] of Object.entries(readLimits))
      await client.command({ query: `SET ${name} = ${value}` })
  for (const client of all)
    for (const [name, value] of Object.entries(jsonFormat))
      await client.command({ query: `SET ${name} = ${value}` })
  databases += 1
  return {
    writer: writerOf([portsOf(writing[0]), portsOf(writing[1]), portsOf(writing[2])]),
    reader: poolOf(
      reading.map((client, at) =>
        portsOf(client, {
          exec: (query, sent, isSmall) =>
            isSmall ? readers[at]!.whole(query) : client.exec({ query, ...sent }),
        }),
      ),
      health,
    ),
    database,
    prepare,
    beside: (other) => openEmbeddedClickHouse(directory, other, health),
    away: () => undefined,
    close: async () => {
      for (const client of all) await client.close()
      databases -= 1
      // Abandoned statements still run, and connections close after them. The process might hang if it exited before.
      if (databases === 0) await drainPending()
    },
  }
}

/** Inserts into several tables run at once, each on the connection with the fewest: they mostly wait for the disk. */
const writerOf = ([first, ...others]: readonly [
  ClickHouseWriter,
  ...ClickHouseWriter[],
]): ClickHouseWriter => {
  const writers = [first, ...others].map((writer) => ({ writer, inserts: 0 }))
  return {
    ...first,
    insert: async (rows) => {
      const least = writers.reduce((a, b) => (b.inserts < a.inserts ? b : a))
      least.inserts += 1
      try {
        await least.writer.insert(rows)
      } finally {
        least.inserts -= 1
      }
    },
  }
}

/**
 * The engine's handler of SIGABRT waits, so that a process out of memory would keep its port and its log without serving
 * requests. Once it is replaced, an abort ends the process; this handler only runs for signals from outside.
 */
const endWhenAborted = () => {
  process.off('SIGABRT', killThisProcess)
  process.on('SIGABRT', killThisProcess)
}

const killThisProcess = () => void process.kill(process.pid, 'SIGKILL')

/** The binding and the client each declare a copy of the same interface. */
const asConnection = (connection: EmbeddedConnection) =>
  connection as unknown as NonNullable<ClickHouseClientConfigOptions['connection']>
