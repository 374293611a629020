import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { gunzipSync } from 'node:zlib'

/** A statement as it came over HTTP: in the address, in the body, or half in each. */
export interface Statement {
  readonly sql: string
  /** It answers rows, so that its answer can be sent while it runs. */
  readonly isRead: boolean
  readonly database: string
  readonly queryId: string
  readonly settings: Readonly<Record<string, string>>
  /** The answer begins when the statement is over. */
  readonly waitsForEnd: boolean
  readonly wantsCompression: boolean
}

/** ClickHouse's `http_max_field_value_size`: no field of an address may be longer. */
const MAX_FIELD = 128 * 1024

export class TooLongField extends Error {
  constructor() {
    super('Poco::Exception. Code: 1000, e.code() = 0, HTML Form Exception: Field value too long')
  }
}

const NO_SETTING = new Set(['query', 'database', 'query_id', 'session_id', 'role', 'default_format'])
const OF_HTTP = new Set(['wait_end_of_query', 'enable_http_compression', 'send_progress_in_http_headers'])

export const readStatement = async (
  request: IncomingMessage,
  address: URLSearchParams,
): Promise<Statement> => {
  const fields = [...address]
  for (const [, value] of fields) if (Buffer.byteLength(value) > MAX_FIELD) throw new TooLongField()
  const given = new Map(fields)
  const query = fields.flatMap(([name, value]) => (name === 'query' ? [value] : [])).join('')
  const body = (await bodyOf(request)).toString('utf8')
  const sql = query === '' || body === '' ? query + body : `${query}\n${body}`
  const settings = fields.filter(([name]) => !NO_SETTING.has(name) && !OF_HTTP.has(name))
  return {
    sql,
    isRead: /^\s*(SELECT|WITH)\b/i.test(sql),
    database: given.get('database') ?? 'default',
    queryId: given.get('query_id') ?? randomUUID(),
    settings: Object.fromEntries(settings),
    waitsForEnd: given.get('wait_end_of_query') === '1',
    wantsCompression: given.get('enable_http_compression') === '1',
  }
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
}
