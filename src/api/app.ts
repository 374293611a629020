import { randomUUID } from 'node:crypto'
import Router, { type RouterContext } from '@koa/router'
import Koa, { type Context, type Next } from 'koa'
import type { Log } from '../domain/ports/log.js'
import type { RequestSeconds } from '../domain/ports/metrics.js'
import { measured, noteRoute } from './http/measured.js'
import { answerAsChat, respondFailure, respondUnrouted } from './http/respond.js'
import { requestIdIn } from './http/request-id.js'
import { serve, type Authenticator } from './http/serve.js'
import type { AnyRoute } from './route.js'

/** The HTTP application: every route, also under the prefix `/traces`, where the SDKs look for it. */
export const createApp = (
  authenticating: Authenticator,
  routes: readonly AnyRoute[],
  log: Log,
  requestSeconds?: RequestSeconds,
): Koa => {
  const router = new Router()
  const plain = new Map<string, Handler>()
  for (const route of routes) {
    const serving = serve(authenticating, route)
    const handler: Handler = (ctx) => {
      noteRoute(ctx, route.path)
      if (route.errorFormat === 'chat') answerAsChat(ctx)
      return serving(ctx)
    }
    router[route.method](route.path, handler)
    if (!/[:*]/.test(route.path)) plain.set(`${route.method.toUpperCase()} ${route.path}`, handler)
  }
  const app = new Koa()
  if (requestSeconds !== undefined) app.use(measured(requestSeconds))
  app.use(answerEverything(log))
  app.use(withoutPrefix)
  app.use(servePlain(plain))
  app.use(router.routes())
  app.use(answerUnrouted)
  app.on('error', noteCutOff(log))
  return app
}

type Handler = (ctx: Context) => Promise<void>

/** The router tries every pattern in turn; a path without parameters can be looked up. */
const servePlain = (handlers: ReadonlyMap<string, Handler>) => (ctx: Context, next: Next) => {
  const handler = handlers.get(`${ctx.method} ${ctx.path}`)
  return handler === undefined ? next() : handler(ctx)
}

/** Where clients of other services in the field come, with what they expect. */
const CHAT_PATH = /^(\/traces)?\/v1(\/|$)/

/** Names the request, and turns whatever goes wrong into an answer. */
const answerEverything = (log: Log) => async (ctx: Context, next: Next) => {
  const isOfField = CHAT_PATH.test(ctx.path)
  if (isOfField) answerAsChat(ctx)
  const requestId = (isOfField ? requestIdIn(ctx.req.headers) : undefined) ?? randomUUID()
  ctx.set('x-request-id', requestId)
  try {
    await next()
  } catch (error) {
    if (respondFailure(ctx, error)) return
    const name = error instanceof Error ? error.name : typeof error
    log.error('request.failed', { requestId, method: ctx.method, path: ctx.path, name, at: framesOf(error) })
  }
}

/** An answer that had begun broke off: the client sees its connection cut. That it went away itself is its own affair. */
const noteCutOff = (log: Log) => {
  const noted = new WeakSet<object>()
  return (error: Error & { readonly code?: string }, ctx?: Context) => {
    const code = error.code ?? ''
    // The end of the stream and that of the answer are both told.
    if (WENT_AWAY.has(code) || code.startsWith('HPE_') || noted.has(error)) return
    noted.add(error)
    const requestId = ctx?.response.get('x-request-id') ?? ''
    log.error('response.aborted', {
      requestId,
      path: ctx?.path ?? '',
      name: error.name,
      at: framesOf(error),
    })
  }
}

/** Besides what the HTTP parser says of a request that it cannot read to its end. */
const WENT_AWAY = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'])

/** Where it happened, without the message: it may quote what was received, over several lines. */
const framesOf = (error: unknown): string[] => {
  const { stack = '', message } = error instanceof Error ? error : { message: '' }
  const at = stack.indexOf(message)
  return (at < 0 ? '' : stack.slice(at + message.length))
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .map((line) => line.trim())
}

const PREFIX = '/traces'

const withoutPrefix = (ctx: Context, next: Next) => {
  if (ctx.path.startsWith(`${PREFIX}/`)) ctx.path = ctx.path.slice(PREFIX.length)
  return next()
}

/** A path that is known is told which methods it has (RFC 9110, 15.5.6). */
const answerUnrouted = (ctx: Context) => {
  const allowed = methodsAt(ctx)
  if (allowed.length === 0) {
    respondUnrouted(ctx, 404, 'unknown_url', 'Unknown endpoint. GET /openapi.json lists all endpoints.')
    return
  }
  ctx.set('Allow', [...allowed, 'OPTIONS'].join(', '))
  if (ctx.method === 'OPTIONS') ctx.status = 204
  else {
    const reason = `Method not allowed: this endpoint supports ${allowed.join(', ')}. GET /openapi.json lists all endpoints.`
    respondUnrouted(ctx, 405, 'method_not_allowed', reason)
  }
}

const methodsAt = (ctx: Context): readonly string[] => {
  const { matched = [] } = ctx as Partial<RouterContext>
  return [...new Set(matched.flatMap(({ methods }) => methods))].sort()
}
