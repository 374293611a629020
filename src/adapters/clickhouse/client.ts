import type { Readable } from 'node:stream'
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import { formatQueryParams } from '@clickhouse/client-common'
import {
  JsonText,
  ReadAbandoned,
  ReadTooExpensive,
  type ClickHouseReads,
  type ClickHouseWriter,
  type Rows,
  type SqlParameters,
  type SqlParameter,
} from '../../kernel/ports/clickhouse.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { readLimits } from './settings.js'
import { engineError, type Headers, type Translation, type Work } from './translation.js'

/** The options of one statement. */
interface Sending {
  /** Ends the statement when it is aborted. */
  readonly abort_signal?: AbortSignal
  readonly query_id?: string
  readonly clickhouse_settings?: ClickHouseSettings
}

interface StreamedResult {
  readonly stream: Readable
  readonly response_headers?: Headers
}

/** The differences between the embedded engine and a server. */
interface Ways {
  readonly translate: Translation
  readonly sending: () => Sending
  /** Starts a statement whose result is streamed. */
  readonly exec: (query: string, sending: Sending, isSmall: boolean) => Promise<StreamedResult>
  /** Wraps an insert; by default it is sent as it is. */
  readonly inserting: (rows: Rows, insert: (sending: Sending) => Promise<void>) => Promise<void>
  /** Throws if a response is not from ClickHouse. */
  readonly checked: (headers: Headers | undefined) => void
}

/** The writer and reader ports of a client. */
export const portsOf = (
  client: ClickHouseClient,
  ways: Partial<Ways> = {},
): ClickHouseWriter & ClickHouseReads => {
  const { translate, sending, exec, inserting, checked }: Ways = {
    translate: engineError,
    sending: () => ({}),
    exec: (query, sent) => client.exec({ query, ...sent }),
    inserting: (_, insert) => insert({}),
    checked: () => undefined,
    ...ways,
  }

  const translated = async <A>(work: Work, done: () => Promise<A>): Promise<A> => {
    try {
      return await done()
    } catch (error) {
      throw translate(error, work)
    }
  }

  return {
    command: (query) =>
      translated('command', async () =>
        checked((await client.command({ query, ...sending() })).response_headers),
      ),

    insert: async (rows) => {
      const { table, columns, values } = rows
      const [first, ...others] = columns
      if (first === undefined || values.length === 0) return
      await inserting(rows, (sent) =>
        translated('insert', async () => {
          const { response_headers } = await client.insert({
            table,
            columns: [first, ...others],
            values: await linesOf(values),
            format: 'JSONCompactEachRow',
            ...sending(),
            ...sent,
          })
          checked(response_headers)
        }),
      )
    },

    query: <Row>(sql: string, parameters: SqlParameters = {}, { signal }: Abandoning = {}) =>
      cancellable(signal, sending(), (sent) =>
        translated('read', async () => {
          const query = statementOf(sql, parameters)
          const result = await client.query({ query, format: 'JSONEachRow', ...sent })
          checked(result.response_headers)
          return rowsIn<Row>(result.stream<Row>())
        }),
      ),

    async *stream(sql, parameters = {}, { signal, format = 'Native', isSmall = false } = {}) {
      const { stream } = await cancellable(signal, sending(), (sent) =>
        translated('read', async () => {
          const begun = await exec(`${statementOf(sql, parameters)} FORMAT ${format}`, sent, isSmall)
          checked(begun.response_headers)
          return begun
        }),
      )
      try {
        for await (const chunk of stream) yield chunk as Uint8Array
      } catch (error) {
        throw translate(error, 'read')
      } finally {
        await closed(stream)
      }
    },
  }
}

/** A row as JSON, which the client writes as it is. */
class Line {
  constructor(readonly text: string) {}
}

/** The option of a client that takes rows of {@link portsOf}. */
export const jsonOfRows = {
  parse: JSON.parse,
  stringify: (value: unknown): string => (value instanceof Line ? value.text : JSON.stringify(value)),
}

/** Lets other work run in between, because a batch may be large. */
const linesOf = async (rows: Rows['values']): Promise<Line[]> => {
  const pause = yielding()
  const lines: Line[] = []
  for (const row of rows) {
    lines.push(new Line(lineOf(row)))
    const pausing = pause()
    if (pausing !== undefined) await pausing
  }
  return lines
}

const lineOf = (row: readonly unknown[]): string =>
  row.some((value) => value instanceof JsonText)
    ? `[${row.map((value) => (value instanceof JsonText ? value.text : JSON.stringify(value ?? null))).join(',')}]`
    : JSON.stringify(row)

/** Lets other work run in between, because a result may be large. */
const rowsIn = async <Row>(
  batches: AsyncIterable<readonly { json(): unknown }[]>,
): Promise<readonly Row[]> => {
  const pause = yielding()
  const rows: Row[] = []
  for await (const batch of batches)
    for (const row of batch) {
      rows.push(row.json() as Row)
      const pausing = pause()
      if (pausing !== undefined) await pausing
    }
  return rows
}

interface Abandoning {
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends a read that is also aborted by its caller's signal. `AbortSignal.any` would keep an entry of each read in the
 * long-lived signal.
 */
const cancellable = async <A>(
  signal: AbortSignal | undefined,
  sent: Sending,
  read: (sent: Sending) => Promise<A>,
): Promise<A> => {
  if (signal === undefined || sent.abort_signal === undefined) return read(sent)
  const ending = new AbortController()
  const end = () => ending.abort()
  const signals = [signal, sent.abort_signal]
  for (const each of signals) each.addEventListener('abort', end)
  try {
    if (signal.aborted) throw new ReadAbandoned()
    return await read({ ...sent, abort_signal: ending.signal })
  } catch (error) {
    throw signal.aborted ? new ReadAbandoned() : error
  } finally {
    for (const each of signals) each.removeEventListener('abort', end)
  }
}

/** Closes a stream. Its connection can run the next statement only after that. */
const closed = async (stream: Readable): Promise<void> => {
  if (stream.closed) return
  const closing = new Promise<void>((resolve) => stream.once('close', resolve))
  stream.destroy()
  await closing
}

/** The engine limits the bytes of a statement, of which a character has at most four. */
const MAX_CHARACTERS = Number(readLimits.max_query_size) / 4

const statementOf = (sql: string, parameters: SqlParameters): string => {
  const statement = withLiterals(sql, parameters)
  if (statement.length > MAX_CHARACTERS) throw new ReadTooExpensive('memory')
  return statement
}

/** Text in quotes, which is skipped, or a placeholder, `{name:Type}`. */
const TOKENS =
  /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*"|\{([A-Za-z_]\w*):((?:[^{}']|'[^']*')+)\}/gs

/**
 * A statement with its parameters as literals, in place of their placeholders. Parameters that the engine puts in their
 * places itself take 0.2 ms a kilobyte, literals a tenth of that, and a server limits their size.
 */
export const withLiterals = (sql: string, parameters: SqlParameters): string =>
  sql.replaceAll(TOKENS, (token, name?: string, type?: string) => {
    if (name === undefined || type === undefined) return token
    const value = parameters[name]
    if (value === undefined) throw new Error(`the parameter ${name} of a statement has no value`)
    return literalOf(value, type)
  })

/** A list is a cast of its text, which takes half the time of a list of literals. */
const literalOf = (value: SqlParameter, type: string): string => {
  if (value === null) return `CAST(NULL, ${quoted(type)})`
  if (type === 'String' && typeof value === 'string') return quoted(value)
  // The client builds texts character by character, which takes ten times as long.
  const text = isTexts(value) ? `[${value.map(quoted).join(',')}]` : formatQueryParams({ value })
  return `CAST(${quoted(text)}, ${quoted(type)})`
}

const isTexts = (value: SqlParameter): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
