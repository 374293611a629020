import type { Readable } from 'node:stream'
import type { ClickHouseClient } from '@clickhouse/client'
import {
  ClickHouseUnavailable,
  ReadTooExpensive,
  RowsRefused,
  type ClickHouseReader,
  type ClickHouseWriter,
  type SqlParameters,
} from '../../domain/ports/clickhouse.js'

/** How a client begins a statement whose answer is streamed. */
type Exec = (query: string, parameters?: SqlParameters) => Promise<{ readonly stream: Readable }>

/** One client as both ports; whatever engine stands behind it. */
export const portsOf = (
  client: ClickHouseClient,
  exec: Exec = (query, parameters) => client.exec({ query, ...given(parameters) }),
): ClickHouseWriter & ClickHouseReader => ({
  async command(query) {
    await translated(client.command({ query }))
  },

  async insert({ table, columns, values }) {
    const [first, ...others] = columns
    if (first === undefined || values.length === 0) return
    await translated(
      client.insert({
        table,
        columns: [first, ...others],
        values: values as unknown[][],
        format: 'JSONCompactEachRow',
      }),
    )
  },

  async query<Row>(query: string, parameters?: SqlParameters) {
    const result = await translated(client.query({ query, format: 'JSONEachRow', ...given(parameters) }))
    return translated(result.json<Row>())
  },

  async *stream(sql, parameters) {
    const { stream } = await translated(exec(`${sql} FORMAT Native`, parameters))
    try {
      for await (const chunk of stream) yield chunk as Uint8Array
    } catch (error) {
      throw translation(error)
    } finally {
      await closed(stream)
    }
  },
})

/** The statement runs until its stream has closed; only then may its connection take another one. */
const closed = async (stream: Readable): Promise<void> => {
  if (stream.closed) return
  const closing = new Promise<void>((resolve) => stream.once('close', resolve))
  stream.destroy()
  await closing
}

const given = (parameters: SqlParameters | undefined) =>
  parameters === undefined ? {} : { query_params: { ...parameters } }

const translated = async <A>(work: Promise<A>): Promise<A> => {
  try {
    return await work
  } catch (error) {
    throw translation(error)
  }
}

/** ClickHouse's error codes, https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp */
const TIMEOUT_EXCEEDED = '159'
const MEMORY_LIMIT_EXCEEDED = '241'

/** Codes that speak of the rows of an insert: what cannot be parsed, read or converted. */
const ABOUT_THE_ROWS = new Set([
  '6',
  '25',
  '26',
  '27',
  '32',
  '33',
  '38',
  '41',
  '53',
  '69',
  '70',
  '72',
  '117',
  '128',
  '130',
  '131',
  '321',
  '349',
  '407',
  '441',
  '467',
  '675',
  '691',
])

const translation = (error: unknown): unknown => {
  const code = codeOf(error)
  if (code === TIMEOUT_EXCEEDED) return new ReadTooExpensive('time')
  if (code === MEMORY_LIMIT_EXCEEDED) return new ReadTooExpensive('memory')
  if (ABOUT_THE_ROWS.has(code)) return new RowsRefused(`ClickHouse error ${code}`, { cause: error })
  if (UNREACHABLE.has(code) || (error instanceof Error && /^timeout|socket hang up/i.test(error.message)))
    return new ClickHouseUnavailable('ClickHouse cannot be reached', { cause: error })
  return error
}

const UNREACHABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'ETIMEDOUT', 'EAI_AGAIN'])

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''
