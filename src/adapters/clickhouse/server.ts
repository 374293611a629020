import { createClient } from '@clickhouse/client'
import type { ClickHouse } from '../../domain/ports/clickhouse.js'
import { portsOf } from './client.js'
import { jsonFormat, readLimits } from './settings.js'

/** A ClickHouse server by URL, `http(s)://user:password@host:8123/database`. */
export const openClickHouseServer = async (url: string): Promise<ClickHouse> => {
  const { database, address } = split(url)
  const creating = createClient({ url: address })
  await creating.command({ query: `CREATE DATABASE IF NOT EXISTS ${database}` })
  await creating.close()
  const writing = createClient({
    url: address,
    database,
    clickhouse_settings: jsonFormat,
    request_timeout: 60_000,
  })
  const reading = createClient({
    url: address,
    database,
    clickhouse_settings: { ...jsonFormat, ...readLimits },
    request_timeout: (readLimits.max_execution_time + 5) * 1000,
    max_open_connections: 32,
    use_multipart_params_auto: true,
  })
  return {
    writer: portsOf(writing),
    reader: portsOf(reading),
    close: async () => {
      await writing.close()
      await reading.close()
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
