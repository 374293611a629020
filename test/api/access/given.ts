import { randomUUID } from 'node:crypto'
import { MemoryAccount } from '../../../src/kernel/memory-account.js'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { accessRoutes } from '../../../src/api/access/routes.js'
import { openAccess, type Access } from '../../../src/application/access/access.js'
import { bootstrapAccess } from '../../../src/application/access/bootstrap.js'
import { Failure } from '../../../src/application/failure.js'
import { queryDecoder } from '../../../src/api/server/serve.js'
import type { AnyRoute, RouteResponse } from '../../../src/api/server/route.js'
import { ACCESS_STREAM } from '../../../src/domain/access/events.js'
import type { Cause } from '../../../src/kernel/event.js'
import type { ClickHouseReader } from '../../../src/kernel/ports/clickhouse.js'
import type { EventStore, RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import { arbitraryKey, sha256 } from '../../unit/domain/access/arbitrary.js'

export const arbitraryCause = (): Cause => ({
  correlationId: randomUUID(),
  causationId: randomUUID(),
  actor: 'test',
})

export const somePorts = (eventStore: EventStore = openInMemoryEventStore()) => ({
  eventStore,
  ids: { next: () => randomUUID() },
  clock: { now: () => new Date() },
  sha256,
  randomKey: arbitraryKey,
  log: { warn: () => undefined },
})

/** Without the uses of keys, which are recorded in the background. */
export const storedEvents = async (eventStore: EventStore): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for await (const event of eventStore.readStream(ACCESS_STREAM)) events.push(event)
  return events.filter(({ type }) => type !== 'ApiKeyUsed')
}

/** A process that does not look for others' writes unless told to. */
export const openedAccess = (ports: ReturnType<typeof somePorts>): Promise<Access> => openAccess(ports)

/** What answers say, one or the other. */
export interface Said {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly user: string
  readonly api_key: string
  readonly kind: string
  readonly last_used_at: string | null
  readonly expires_at: string | null
  readonly made_by: string | null
  readonly made: number
  readonly revoked: number
  readonly still_valid: number
  readonly can_revoke: boolean
  readonly administrator: boolean
  readonly roles: readonly string[]
  readonly teams: readonly { readonly team: string; readonly roles: readonly string[] }[]
  readonly data: readonly Said[]
  readonly next: string | null
}

const NO_READER: ClickHouseReader = {
  knownParts: { refusedUntil: 0, ranges: new Map(), counts: new Map() },
  query: () => Promise.reject(new Error('no read models')),
  stream: () => {
    throw new Error('no read models')
  },
}

interface Request {
  readonly body?: unknown
  readonly query?: Readonly<Record<string, string | string[] | undefined>>
  readonly headers?: Record<string, string>
}

/** A bootstrapped service; `as(key)` asks its routes the way the application does. */
export const givenService = async <P extends ReturnType<typeof somePorts>>(
  ports: P = somePorts() as P,
  furtherRoutes: (ports: P, access: Access) => readonly AnyRoute[] = () => [],
) => {
  const access = await openedAccess(ports)
  const { createdKey } = await bootstrapAccess(ports, access, undefined)
  const routes = [...accessRoutes({ ...ports, access, publicUrl: null }), ...furtherRoutes(ports, access)]

  const ask = async (
    key: string,
    method: string,
    path: string,
    request: Request = {},
  ): Promise<RouteResponse> => {
    const principal = access.authenticate(key) ?? access.authenticateSession(key)
    if (principal === undefined) throw new Failure('unauthenticated', 'no such key')
    for (const route of routes) {
      const params = route.method === method ? match(route.path, path) : undefined
      if (params === undefined) continue
      const { body = {}, query = {}, headers = {} } = request
      const decoded = route.body?.decode(body)
      if (decoded?._tag === 'Left') throw new Failure('invalid', 'body')
      return route.handle({
        body: decoded?.right,
        params,
        query: queryDecoder(route)(query)(),
        headers,
        principal,
        reauthenticate: () => principal,
        cause: { ...arbitraryCause(), actor: principal.userId },
        stream: new IncomingMessage(new Socket()),
        onDisconnect: () => () => undefined,
        memory: new MemoryAccount(Infinity).lease(''),
        readerOf: () => NO_READER,
      })
    }
    throw new Error(`no route for ${method} ${path}`)
  }

  const as = (key: string) => ({
    get: async (
      path: string,
      query?: Readonly<Record<string, string | string[] | undefined>>,
    ): Promise<Said> => (await ask(key, 'get', path, query === undefined ? {} : { query })).body as Said,
    post: async (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Said> =>
      (await ask(key, 'post', path, { body, headers })).body as Said,
    put: async (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Said> =>
      (await ask(key, 'put', path, { body, headers })).body as Said,
    delete: async (path: string, query = {}): Promise<Said> =>
      (await ask(key, 'delete', path, { query })).body as Said,
  })
  const admin = createdKey!
  /** Signs in with a key; `isSignedIn` is whether the session is valid now. */
  const signIn = async (api_key: string) => {
    const { headers } = await ask(admin, 'post', '/api/sessions', { body: { api_key } })
    const token = /=([^;]+)/.exec(headers!['Set-Cookie']!)![1]!
    return { token, isSignedIn: () => access.authenticateSession(token) !== undefined }
  }
  return { ports, access, admin, as, ask, signIn, stored: () => storedEvents(ports.eventStore) }
}

const match = (pattern: string, path: string): Record<string, string> | undefined => {
  const [names, values] = [pattern.split('/'), path.split('/')]
  if (names.length !== values.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, name] of names.entries())
    if (name.startsWith(':')) params[name.slice(1)] = decodeURIComponent(values[index]!)
    else if (name !== values[index]) return undefined
  return params
}

/** Team `red` of alice, who administers it, and bob, who does not; team `blue` of carol. */
export const givenTeams = async <P extends ReturnType<typeof somePorts>>(
  ...given: Parameters<typeof givenService<P>>
) => {
  const service = await givenService(...given)
  const { as, admin } = service
  for (const name of ['red', 'blue']) await as(admin).post('/api/teams', { name })
  const keyOf = async (team: string, user: string, role: string): Promise<string> =>
    (await as(admin).post(`/api/teams/${team}/members`, { user, role })).api_key
  return {
    ...service,
    alice: await keyOf('red', 'alice', 'team_administrator'),
    bob: await keyOf('red', 'bob', 'member'),
    carol: await keyOf('blue', 'carol', 'team_administrator'),
  }
}

/** What a request failed with. */
export const failureOf = async (answer: Promise<unknown>): Promise<Failure> => {
  try {
    await answer
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error('the request was served')
}
