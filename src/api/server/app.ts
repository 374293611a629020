import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import Router, { type RouterContext } from '@koa/router'
import Koa, { type Context, type Next } from 'koa'
import { fairTurns } from '../../kernel/fair-turns.js'
import type { MemoryAccount } from '../../kernel/memory-account.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { LoopWatch } from '../../kernel/loop-watch.js'
import type { Log } from '../../kernel/ports/log.js'
import type { RequestSeconds } from '../../kernel/ports/metrics.js'
import { allowOrigins, type CorsSettings } from './cors.js'
import { asksAnthropic, respondAs, respondFailure, respondUnrouted } from './respond.js'
import { serve, type Authenticator } from './serve.js'
import type { AnyRoute } from './route.js'
import { insteadOf } from './unserved.js'
import { serveAssets, servePages, type WebInterface } from './web-pages.js'

/** A request whose response ended. */
export interface FinishedRequest {
  readonly method: string
  /** The path template. */
  readonly route: string
  /** Absent if the response was not sent completely. */
  readonly status: number | undefined
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly seconds: number
  readonly requestId: string
}

interface RequestMeasures {
  readonly onFinished?: ((request: FinishedRequest) => void) | undefined
  readonly requestSeconds: RequestSeconds
  readonly loop: LoopWatch
}

/** The HTTP application. SDKs expect every route under the prefix `/traces` as well. */
export const createApp = (
  authenticating: Authenticator,
  reader: ClickHouseReader,
  memory: MemoryAccount,
  routes: readonly AnyRoute[],
  log: Log,
  measures?: RequestMeasures,
  cors: CorsSettings = { origins: [], vendor: '' },
  web?: WebInterface,
): Koa => {
  const router = new Router()
  const nextTurn = fairTurns()
  const plain = new Map<string, Handler>()
  for (const route of routes) {
    const serving = serve(authenticating, reader, memory, nextTurn, route, web?.publicUrl ?? null)
    const handler: Handler = (ctx) => {
      noteRoute(ctx, route.path)
      if (route.errorFormat !== undefined && route.errorFormat !== 'chat') respondAs(ctx, route.errorFormat)
      return serving(ctx)
    }
    router[route.method](route.path, handler)
    if (!/[:*]/.test(route.path)) plain.set(`${route.method.toUpperCase()} ${route.path}`, handler)
  }
  const app = new Koa()
  if (measures !== undefined) app.use(measureRequests(measures))
  if (cors.origins.length > 0) app.use(allowOrigins(cors))
  app.use(keepPrivate)
  app.use(atServedPath)
  app.use(handleErrors(log))
  if (web?.pages !== undefined) app.use(serveAssets(web.pages))
  app.use(servePlain(plain))
  app.use(router.routes())
  if (web !== undefined) app.use(whereUnmatched(servePages(web)))
  app.use(respondToUnmatched)
  app.on('error', logAborted(log))
  return app
}

type Handler = (ctx: Context) => Promise<void>

/** The router tries all patterns in turn, so paths without parameters are looked up in a map first. */
const servePlain = (handlers: ReadonlyMap<string, Handler>) => (ctx: Context, next: Next) => {
  const handler = handlers.get(`${ctx.method} ${ctx.path}`)
  return handler === undefined ? next() : handler(ctx)
}

/** For every response but the pages and their files, which set their own. */
const keepPrivate = (ctx: Context, next: Next) => {
  ctx.set({
    'Cache-Control': 'private, no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  })
  return next()
}

/** The error format of a path's clients, also before a route is found. They name their requests. */
const formatOf = ({ path, req: { headers } }: Context): 'anthropic' | 'chat' | undefined => {
  if (/^\/v1\/messages(\/|$)/.test(path)) return 'anthropic'
  // Clients of both providers ask for the same path.
  if (/^\/v1\/models(\/|$)/.test(path) && asksAnthropic(headers)) return 'anthropic'
  return /^\/v1(\/|$)/.test(path) ? 'chat' : undefined
}

/** Sets the request id and turns errors into responses. */
const handleErrors = (log: Log) => async (ctx: Context, next: Next) => {
  const format = formatOf(ctx)
  if (format !== undefined) respondAs(ctx, format)
  const requestId = (format === undefined ? undefined : requestIdIn(ctx.req.headers)) ?? randomUUID()
  ctx.set('x-request-id', requestId)
  if (format === 'anthropic') ctx.set('request-id', requestId)
  try {
    await next()
  } catch (error) {
    if (respondFailure(ctx, error)) return
    const name = error instanceof Error ? error.name : typeof error
    const route = routeOf(ctx) ?? 'unmatched'
    log.error('request.failed', { requestId, method: ctx.method, route, name, at: framesOf(error) })
  }
}

/** Logs responses that were aborted after their first byte, but not when the client disconnected. */
const logAborted = (log: Log) => {
  const noted = new WeakSet<object>()
  return (error: Error & { readonly code?: string }, ctx?: Context) => {
    const code = error.code ?? ''
    // Koa reports the same error for the stream and for the response.
    if (WENT_AWAY.has(code) || code.startsWith('HPE_') || noted.has(error)) return
    noted.add(error)
    const requestId = ctx?.response.get('x-request-id') ?? ''
    const route = (ctx && routeOf(ctx)) ?? 'unmatched'
    log.error('response.aborted', { requestId, route, name: error.name, at: framesOf(error) })
  }
}

/** Error codes of a client that disconnected, in addition to the HTTP parser's own (`HPE_`). */
const WENT_AWAY = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'])

/** The stack frames without the message, which may quote the request. */
export const framesOf = (error: unknown): string[] => {
  const { stack = '', message } = error instanceof Error ? error : { message: '' }
  const at = stack.indexOf(message)
  return (at < 0 ? '' : stack.slice(at + message.length))
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .map((line) => line.trim())
}

const PREFIX = '/traces'

const atServedPath = (ctx: Context, next: Next) => {
  if (ctx.path.startsWith(`${PREFIX}/`)) ctx.path = ctx.path.slice(PREFIX.length)
  const [joined, version, model, endpoint = ''] = JOINED.exec(ctx.path) ?? []
  // A browser may ask for a page with such a name.
  if (joined === undefined || (version === '' && ctx.get('Accept').includes('text/html'))) return next()
  ctx.path = `/v1/${model === undefined ? endpoint.replace(/\/+/g, '/') : `models/${model}`}`
  return next()
}

/** Clients join a base URL and a path with two slashes, with /v1 twice or not at all. Rerank has two versions, with one form. */
const JOINED =
  /^\/+((?:v1\/+)*(?:v2\/+(?=rerank))?)(?:models\/+([^/].*)|((?:chat\/+)?completions|embeddings|moderations|rerank|models|(?:responses|messages)(?:\/+[^/]+)*)\/*)$/

/** A known path with another method is a 405 with `Allow` (RFC 9110, 15.5.6). */
const respondToUnmatched = (ctx: Context) => {
  if (ctx.path === '/v1/responses' && /^websocket$/i.test(ctx.get('Upgrade'))) {
    // Codex continues over HTTP after this status, and repeats the request after others.
    ctx.set({ Upgrade: 'HTTP/1.1', Connection: 'upgrade, close' })
    const reason = 'WebSocket connections are not served. Use POST /v1/responses with `"stream": true`.'
    respondUnrouted(ctx, 426, 'upgrade_required', reason)
    return
  }
  const allowed = methodsAt(ctx)
  const instead = insteadOf(ctx.path) ?? 'GET /openapi.json lists all endpoints.'
  if (allowed.length === 0) {
    respondUnrouted(ctx, 404, 'unknown_url', `Unknown endpoint. ${instead}`)
    return
  }
  ctx.set('Allow', [...allowed, 'OPTIONS'].join(', '))
  if (ctx.method === 'OPTIONS') ctx.status = 204
  else {
    const reason = `Method not allowed: this endpoint supports ${allowed.join(', ')}. ${instead}`
    respondUnrouted(ctx, 405, 'method_not_allowed', reason)
  }
}

const whereUnmatched = (serve: (ctx: Context, next: Next) => unknown) => (ctx: Context, next: Next) =>
  methodsAt(ctx).length === 0 ? serve(ctx, next) : next()

const methodsAt = (ctx: Context): readonly string[] => {
  const { matched = [] } = ctx as Partial<RouterContext>
  return [...new Set(matched.flatMap(({ methods }) => methods))].sort()
}

/** The client's `x-request-id`, if it has 1 to 128 visible ASCII characters. */
const requestIdIn = ({ 'x-request-id': named }: IncomingHttpHeaders): string | undefined =>
  typeof named === 'string' && /^[!-~]{1,128}$/.test(named) ? named : undefined

const ROUTE = 'route'

const noteRoute = (ctx: Context, path: string): void => {
  ctx.state[ROUTE] = path
}

/** The path of the request's route, without its parameters: some are links that open without a key. */
const routeOf = (ctx: Context): string | undefined => ctx.state[ROUTE] as string | undefined

/** Measures each request until its response ends. Unmatched paths share one label, to bound the number of series. */
const measureRequests =
  ({ requestSeconds, loop, onFinished }: RequestMeasures) =>
  (ctx: Context, next: Next) => {
    const [start, startedAt] = [performance.now(), Date.now()]
    const ended = loop.begin(() => `${ctx.method} ${routeOf(ctx) ?? 'unmatched'}`)
    ctx.res.once('close', () => {
      ended()
      const route = routeOf(ctx)
      const seconds = (performance.now() - start) / 1000
      const isWhole = ctx.res.writableFinished
      const status = isWhole ? `${Math.floor(ctx.res.statusCode / 100)}xx` : 'aborted'
      const labels =
        route !== undefined
          ? { method: ctx.method, route, status }
          : { method: 'any', route: 'unmatched', status }
      requestSeconds.observe(labels, seconds)
      onFinished?.({
        ...{ method: labels.method, route: labels.route, startedAt, seconds },
        status: isWhole ? ctx.res.statusCode : undefined,
        requestId: ctx.response.get('x-request-id'),
      })
    })
    return next()
  }
