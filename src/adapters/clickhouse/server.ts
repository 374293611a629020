import { createClient, type ClickHouseClient } from '@clickhouse/client'
import type { ClickHouse, ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { portsOf } from './client.js'
import { asForm, inPieces } from './long-parameters.js'
import { jsonFormat, quiet, readLimits } from './settings.js'

/** A ClickHouse server by URL, `http(s)://user:password@host:8123/database`. */
export const openClickHouseServer = async (url: string): Promise<ClickHouse> => {
  const { database, address } = split(url)
  const creating = createClient({ url: address, log: quiet })
  await portsOf(creating)
    .command(`CREATE DATABASE IF NOT EXISTS ${database}`)
    .finally(() => creating.close())
  const writing = createClient({
    url: address,
    database,
    clickhouse_settings: jsonFormat,
    request_timeout: 60_000,
    log: quiet,
  })
  const reading = createClient({
    url: address,
    database,
    clickhouse_settings: { ...jsonFormat, ...readLimits, ...wholeAnswers },
    request_timeout: (readLimits.max_execution_time + 5) * 1000,
    max_open_connections: 32,
    use_multipart_params_auto: true,
    log: quiet,
  })
  return {
    writer: portsOf(writing),
    reader: readerOf(reading),
    database,
    beside: (other) => openClickHouseServer(new URL(`/${other}`, url).href),
    close: async () => {
      await writing.close()
      await reading.close()
    },
  }
}

/**
 * The server begins its answer when the statement is over: one that fails after its first rows were sent would end like
 * a whole answer, with the error as its last bytes.
 */
const wholeAnswers = { wait_end_of_query: 1 } as const

const readerOf = (client: ClickHouseClient): ClickHouseReader => {
  const ports = portsOf(client, (query, parameters) => client.exec({ query, ...asForm(parameters ?? {}) }))
  return {
    query: (sql, parameters) => {
      const asked = inPieces(sql, parameters)
      return ports.query(asked.sql, asked.parameters)
    },
    stream: (sql, parameters) => {
      const asked = inPieces(sql, parameters)
      return ports.stream(asked.sql, asked.parameters)
    },
  }
}

const split = (url: string): { readonly database: string; readonly address: string } => {
  const address = new URL(url)
  const database = address.pathname.slice(1) || 'tallytree'
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(database))
    throw new Error('CLICKHOUSE_URL: the database, after the host, must be letters, digits and underscores')
  address.pathname = ''
  return { database, address: address.href }
}
