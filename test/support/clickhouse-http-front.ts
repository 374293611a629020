import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { Session } from 'chdb'
import { isOnServer, sharedServer } from './clickhouse-server.js'
import { engineDirectory } from './engine.js'
import { readStatement, TooLongField, type Statement } from './clickhouse-http-request.js'

/**
 * A thin HTTP front over the engine in this process: NOT a ClickHouse server. It understands as much of ClickHouse's
 * HTTP interface as `@clickhouse/client` speaks, so that the adapter for a server runs its own code against the same
 * engine. Limits and the shape of errors are those that ClickHouse documents.
 * https://clickhouse.com/docs/interfaces/http
 */
export interface ClickHouseFront {
  /** Without a database. */
  readonly url: string
  readonly stop: () => Promise<void>
}

/** ClickHouse's `http_max_uri_size`; Node counts the headers in. */
const MAX_ADDRESS = 1024 * 1024

/** Answers come in pieces that no row or block respects. */
const PIECE = 65_521

/** With `TEST_CLICKHOUSE=server` the real server that the tests share, which does not end. */
export const startClickHouseFront = async (): Promise<ClickHouseFront> => {
  if (isOnServer) return { url: (await sharedServer()).url, stop: () => Promise.resolve() }
  const sessions = sessionPool()
  const server = createServer({ maxHeaderSize: MAX_ADDRESS }, (request, response) => {
    void handle(sessions, request, response).catch((error: unknown) => refuse(response, error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      sessions.close()
    },
  }
}

/** A session runs one statement at a time; what a statement sets is set back before the next one. */
const sessionPool = () => {
  const free: Session[] = []
  const all: Session[] = []
  const take = (): Session => {
    const session = free.pop() ?? new Session(engineDirectory)
    if (!all.includes(session)) all.push(session)
    return session
  }
  return {
    use: async (statement: Statement, work: (session: Session) => Promise<void>): Promise<void> => {
      const session = take()
      const names = Object.keys(statement.settings)
      try {
        await session.queryAsync(`USE ${statement.database}`)
        for (const name of names)
          await session.queryAsync(`SET ${name} = ${quoted(statement.settings[name]!)}`)
        await work(session)
      } finally {
        for (const name of names) await session.queryAsync(`SET ${name} = DEFAULT`).catch(() => undefined)
        free.push(session)
      }
    },
    close: (): void => {
      for (const session of all) session.close()
    },
  }
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

type Sessions = ReturnType<typeof sessionPool>

const handle = async (sessions: Sessions, request: IncomingMessage, response: ServerResponse) => {
  const url = new URL(request.url ?? '/', 'http://front')
  if (url.pathname === '/ping') return void response.end('Ok.\n')
  const statement = await readStatement(request, url.searchParams)
  response.setHeader('X-ClickHouse-Summary', '{"read_rows":"0","written_rows":"0"}')
  await oneAtATime(statement.queryId, () =>
    sessions.use(statement, (session) =>
      statement.isRead && !statement.waitsForEnd
        ? stream(session, statement, response)
        : answer(session, statement, request, response),
    ),
  )
}

/** The last statement of each id that runs. */
const running = new Map<string, Promise<void>>()

/** The same id again waits until the first is over; a server would end it, as `replace_running_query` asks it to. */
const oneAtATime = async (id: string, work: () => Promise<void>): Promise<void> => {
  const before = running.get(id)
  const now = (before?.catch(() => undefined) ?? Promise.resolve()).then(work)
  running.set(id, now)
  try {
    await now
  } finally {
    if (running.get(id) === now) running.delete(id)
  }
}

const answer = async (
  session: Session,
  { sql, wantsCompression }: Statement,
  request: IncomingMessage,
  response: ServerResponse,
) => {
  const result = Buffer.from((await session.queryAsync(sql)).bytes())
  const isGzip = wantsCompression && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  if (isGzip) response.setHeader('Content-Encoding', 'gzip')
  const body = isGzip ? gzipSync(result, { level: 3 }) : result
  for (let at = 0; at < body.length; at += PIECE) response.write(body.subarray(at, at + PIECE))
  response.end()
  await closed(response)
}

/** What fails after the first bytes were sent ends as a proper answer with the error at its end, as from 25.11 on. */
const stream = async (session: Session, { sql }: Statement, response: ServerResponse) => {
  const tag = 'frontfrontfronta'
  try {
    for await (const chunk of session.queryStream(sql)) {
      const bytes = Buffer.from(chunk.raw())
      if (!response.headersSent) response.writeHead(200, { 'X-ClickHouse-Exception-Tag': tag })
      for (let at = 0; at < bytes.length; at += PIECE)
        if (!response.write(bytes.subarray(at, at + PIECE)) && !response.closed)
          await Promise.race([once(response, 'drain'), closed(response)])
      if (response.closed) return
    }
  } catch (error) {
    if (!response.headersSent) throw error
    const message = `${messageOf(error)}\n`
    response.write(`\r\n__exception__\r\n${tag}\r\n${message}${message.length} ${tag}\r\n__exception__\r\n`)
  }
  response.end()
}

const closed = async (response: ServerResponse): Promise<void> => {
  if (!response.closed) await once(response, 'close')
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const refuse = (response: ServerResponse, error: unknown): void => {
  if (response.headersSent) return void response.destroy()
  const message = messageOf(error)
  const code =
    error instanceof TooLongField ? '1000' : (/^Code: (\d+)\. DB::Exception/.exec(message)?.[1] ?? '49')
  response.writeHead(code === '159' || code === '241' ? 500 : 400, {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Exception-Code': code,
  })
  response.end(`${message}\n`)
}
