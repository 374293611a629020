import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import * as E from 'fp-ts/lib/Either.js'
import type { Context } from 'koa'
import { decode, shortened } from '../../kernel/codec/codec.js'
import type { Json } from '../../kernel/json/json.js'
import type { MemoryAccount, MemoryLease } from '../../kernel/memory-account.js'
import type { NextTurn } from '../../kernel/fair-turns.js'
import { deeperThan, MAX_DEPTH } from '../../kernel/json/measure.js'
import { refuseAsOf } from './read-conditions.js'
import { Failure, invalid, invalidBody, invalidField } from '../../application/failure.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { defaultEntity, type Principal } from '../../application/principal.js'
import { readJson } from './read-json.js'
import { respond } from './respond.js'
import { refuseOtherOrigins, requireOwnHost, requireSameOrigin, sessionTokenIn } from './session-cookie.js'
import type { OnDisconnect } from '../../application/on-disconnect.js'
import type { AnyRoute } from './route.js'

export interface Authenticator {
  readonly authenticate: (key: string) => Principal | undefined
  readonly authenticateSession: (token: string) => Principal | undefined
}

const ANONYMOUS: Principal = {
  userId: '',
  keyId: '',
  scope: 'all',
  administrator: false,
  teams: [],
  administers: [],
}

/** Of JSON without a key. The memory for a body is reserved before it arrives. */
const MAX_OPEN_BODY_BYTES = 65_536

/**
 * A route as a Koa handler: authenticate, decode, handle, respond. Authenticates again after reading the body, which
 * may take long.
 */
export const serve = (
  authenticating: Authenticator,
  reader: ClickHouseReader,
  memory: MemoryAccount,
  nextTurn: NextTurn,
  route: AnyRoute,
  publicUrl: string | null,
) => {
  const decodeBody = route.body === undefined ? undefined : decode(route.body)
  const decodeQuery = queryDecoder(route)
  const presentAlone = route.access !== 'open' && !route.requestHeaders.includes('Tallytree-As-Of')
  return async (ctx: Context): Promise<void> => {
    const reauthenticate = () =>
      route.access === 'open' ? ANONYMOUS : principalOf(authenticating, route, ctx, publicUrl)
    const asking = reauthenticate()
    if (!isByAllowedPage(ctx)) refuseOtherOrigins(ctx.method, ctx.req.headers)
    if (presentAlone) refuseAsOf(ctx.req.headers)
    const turn = asking === ANONYMOUS ? undefined : nextTurn(teamOf(asking))
    if (turn !== undefined) await turn
    if (decodeBody !== undefined && asking === ANONYMOUS) refuseLargeBody(ctx.req.headers)
    const lease = memory.lease(teamOf(asking))
    onceClosed(ctx, lease.release)
    const body = decodeBody && (await bodyOf(ctx, route, decodeBody, lease))
    const principal = decodeBody === undefined ? asking : reauthenticate()
    const requestId = ctx.response.get('x-request-id') || randomUUID()
    const query = decodeQuery(ctx.query)
    const onDisconnect = onDisconnectOf(ctx)
    const response = await route.handle({
      body,
      params: (ctx.params ?? {}) as Record<string, string>,
      get query() {
        return query()
      },
      headers: ctx.req.headers,
      principal,
      reauthenticate,
      cause: { correlationId: requestId, causationId: requestId, actor: principal.userId },
      stream: ctx.req,
      onDisconnect,
      memory: lease,
      readerOf: (team) => readerOfRequest(reader, onDisconnect, team),
    })
    respond(ctx, response)
  }
}

const refuseLargeBody = ({ 'content-length': length }: IncomingHttpHeaders): void => {
  if (Number(length ?? 0) > MAX_OPEN_BODY_BYTES)
    throw new Failure('too-large', `The request body exceeds the limit of ${MAX_OPEN_BODY_BYTES} bytes.`)
}

/** Whether a page sent a key of its own, for which the browser asks first, or is of an origin that the operator allows. */
const isByAllowedPage = ({ req: { headers }, res }: Context): boolean =>
  hasKeyHeader(headers) ||
  /^ *bearer /i.test(headers.authorization ?? '') ||
  res.hasHeader('Access-Control-Allow-Origin')

const onDisconnectOf =
  (ctx: Context): OnDisconnect =>
  (leave) =>
    onceClosed(ctx, () => {
      if (!ctx.res.writableFinished) leave()
    })

/** A pipelined response that waits for an earlier one emits no `close`, so the socket is watched too. */
const onceClosed = ({ req: { socket }, res }: Context, done: () => void): (() => void) => {
  const forget = () => {
    res.off('close', look)
    socket.off('close', look)
  }
  const look = () => {
    forget()
    done()
  }
  if (res.destroyed || socket.destroyed) look()
  else {
    res.on('close', look)
    socket.on('close', look)
  }
  return forget
}

/** The team whose share of the memory a request uses. The body, which names the project, is not read yet. */
const teamOf = (principal: Principal): string => (principal === ANONYMOUS ? '' : defaultEntity(principal))

const principalOf = (
  { authenticate, authenticateSession }: Authenticator,
  { forWorkers }: AnyRoute,
  ctx: Context,
  publicUrl: string | null,
): Principal => {
  const { headers } = ctx.req
  const [key, ...otherKeys] = keysIn(headers)
  if (otherKeys.length > 0)
    throw new Failure('unauthenticated', 'The headers of the request have different API keys. Send only one.')
  const hasKey = headers.authorization !== undefined || hasKeyHeader(headers)
  const token = hasKey ? undefined : sessionTokenIn(headers)
  const principal =
    key !== undefined ? authenticate(key) : token === undefined ? undefined : authenticateSession(token)
  if (principal !== undefined && token !== undefined) {
    requireOwnHost(headers, publicUrl)
    requireSameOrigin(ctx.method, headers)
  }
  return requirePrincipal(principal, forWorkers)
}

/** @throws Failure without a principal, and for the key of a worker where none may be used */
export const requirePrincipal = (
  principal: Principal | undefined,
  forWorkers: true | undefined,
): Principal => {
  if (principal?.scope === 'training_worker' && forWorkers !== true) throw onlyForWorkers()
  if (principal !== undefined) return principal
  throw new Failure(
    'unauthenticated',
    'A valid API key is required: send it as the password of Basic authentication (any user name), as ' +
      '"Authorization: Bearer <key>", or in x-api-key. An administrator issues keys with POST /api/teams/{team}/members.',
  )
}

/** The failure of a key for workers that is used for something else. */
export const onlyForWorkers = (): Failure =>
  new Failure('forbidden', 'This API key is for training workers: it can only claim jobs and work on them.')

type RawQuery = Readonly<Record<string, string | string[] | undefined>>

/** Decodes the query lazily and once. */
export const queryDecoder = ({ query: codec }: Pick<AnyRoute, 'query'>) => {
  if (codec === undefined) return () => () => undefined
  const decodeQuery = decode(codec)
  return (query: RawQuery) => {
    let decoded: ReturnType<typeof decodeQuery> | undefined
    return (): unknown => {
      decoded ??= decodeQuery({ ...query })
      if (E.isRight(decoded)) return decoded.right
      throw invalid(decoded.left.map((problem) => ({ ...problem, loc: ['query', ...problem.loc] })))
    }
  }
}

const bodyOf = async (
  ctx: Context,
  route: AnyRoute,
  decodeBody: ReturnType<typeof decode>,
  memory: MemoryLease,
): Promise<unknown> => {
  const read = await readJson(ctx.req, memory)
  if (route.lenientBatch === true) return read
  const { value, isTooDeep } = read
  if (isTooDeep)
    throw invalidField(
      placeTooDeep(value),
      'recursion_depth',
      `Input should have at most ${MAX_DEPTH} levels of nesting`,
    )
  const decoded = decodeBody(value)
  if (E.isRight(decoded)) return decoded.right
  throw invalidBody(decoded.left)
}

/** Enough to name the element of a list in the body. */
const KEYS_OF_PLACE = 4

/** The beginning of the path to the first value that is nested too deep. */
const placeTooDeep = (body: Json): readonly (string | number)[] => {
  const path: (string | number)[] = []
  let at = body as Readonly<Record<string, Json>>
  while (path.length < KEYS_OF_PLACE) {
    const levels = MAX_DEPTH - path.length - 1
    const key = Object.keys(at).find((key) => deeperThan(at[key], levels))
    if (key === undefined) break
    path.push(Array.isArray(at) ? Number(key) : shortened(key))
    at = at[key] as typeof at
  }
  return path
}

/**
 * The API key in an `Authorization` header: the password of Basic authentication (RFC 7617, any user name or none) or a
 * Bearer token. Undefined for anything else. Never throws, because an error could quote the header.
 */
export const keyIn = (authorization: string | undefined): string | undefined => {
  if (typeof authorization !== 'string' || authorization.length > MAX_HEADER) return undefined
  const [, scheme, credentials] = FORM.exec(authorization) ?? []
  if (scheme === undefined || credentials === undefined) return undefined
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return credentials
    case 'basic':
      return passwordIn(credentials)
    default:
      return undefined
  }
}

/** Clients of Azure, Anthropic, Gemini and W&B send the key in a header of its own. */
export const KEY_HEADERS = ['api-key', 'x-api-key', 'x-goog-api-key', 'wandb-api-key'] as const

/** The API key of a request. Undefined for headers that disagree: programs on the way may go by another one of them. */
export const keyInHeaders = (headers: IncomingHttpHeaders): string | undefined => {
  const [key, ...others] = keysIn(headers)
  return others.length > 0 ? undefined : key
}

/** The different keys in the headers of a request, with undefined for an invalid header. */
const keysIn = (headers: IncomingHttpHeaders): readonly (string | undefined)[] => {
  const { authorization } = headers
  const given = KEY_HEADERS.map((name) => headers[name]).filter(
    (value) => value !== undefined && value !== '',
  )
  const keys = given.map((key) => (typeof key === 'string' && key.length <= MAX_HEADER ? key : undefined))
  return [...new Set(authorization === undefined ? keys : [keyIn(authorization), ...keys])]
}

const hasKeyHeader = (headers: IncomingHttpHeaders): boolean =>
  KEY_HEADERS.some((name) => headers[name] !== undefined)

const MAX_HEADER = 4096

const FORM = /^ *([A-Za-z]+) +([^ ]+) *$/

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

const passwordIn = (credentials: string): string | undefined => {
  if (!BASE64.test(credentials)) return undefined
  const pair = Buffer.from(credentials, 'base64').toString('utf8')
  const password = pair.slice(pair.indexOf(':') + 1)
  return password === '' ? undefined : password
}

/** A reader that counts in the team's share and cancels its queries when the client disconnects. */
export const readerOfRequest = (
  reader: ClickHouseReader,
  onDisconnect: OnDisconnect,
  team: string,
): ClickHouseReader => {
  let signal: AbortSignal | undefined
  const ofRequest = () => ({ signal: (signal ??= abortedOn(onDisconnect)), team })
  return {
    knownParts: reader.knownParts,
    query: (sql, parameters) => reader.query(sql, parameters, ofRequest()),
    stream: (sql, parameters, options) => reader.stream(sql, parameters, { ...options, ...ofRequest() }),
  }
}

const abortedOn = (onDisconnect: OnDisconnect): AbortSignal => {
  const leaving = new AbortController()
  setMaxListeners(0, leaving.signal)
  onDisconnect(() => leaving.abort())
  return leaving.signal
}
