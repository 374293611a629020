import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Directory } from '../../domain/access/directory.js'
import { sorted } from '../../kernel/sorted.js'
import type { Services } from '../../application/services.js'
import { makeSession, MAX_SESSION_MS } from '../../application/access/sessions.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { Failure } from '../../application/failure.js'
import { userName } from '../../domain/access/events.js'
import { membershipsOf, sessionsOf } from '../../domain/access/look-ups.js'
import { role } from '../../domain/access/roles.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { boolean, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id, teamName } from '../../kernel/ids.js'
import { anyKey } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import type { AnyRoute } from '../server/route.js'
import { openRoute, readDirectory, writeDirectory } from '../server/route-kinds.js'
import { onlyForWorkers } from '../server/serve.js'
import { requireOwnHost, sessionCookie, sessionTokenIn } from '../server/session-cookie.js'

const PATH = '/api/sessions'

const sessionJson = open('Session', {
  says: '`made_by` is the API key that opened it, null where an earlier release did not note it.',
  required: {
    id,
    created_at: instant,
    expires_at: nullable(instant),
    made_by: nullable(id),
    current: boolean,
  },
})

const signedIn = open('SignedIn', {
  says: '`session` is null for a request with an API key. `sessions` are all sessions of the user.',
  required: {
    user: userName,
    administrator: boolean,
    teams: arrayOf(open('SignedInTeam', { required: { team: teamName, roles: arrayOf(role) } })),
    session: nullable(sessionJson),
    sessions: arrayOf(sessionJson),
  },
})

type SessionServices = Pick<Services, 'clock' | 'ids' | 'sha256' | 'access' | 'randomKey' | 'publicUrl'>

const shown = ({ access, clock }: SessionServices, userId: string, keyId: string) => {
  const directory = access.directory()
  const sessions = [...sessionsOf(directory, userId, instantOf(clock.now()))].map(
    ({ key_id, issued_at, expires_at, made_by }) => ({
      id: key_id,
      created_at: issued_at,
      expires_at,
      made_by,
      current: key_id === keyId,
    }),
  )
  return {
    user: userName.is(userId) ? userId : '',
    administrator: directory.users.get(userId)?.administrator ?? false,
    teams: teamsOf(directory, userId),
    session: sessions.find(({ current }) => current) ?? null,
    sessions,
  }
}

/** Administrators of the service see all teams, in most of which they have no role. */
const teamsOf = (directory: Directory, userId: string) => {
  const memberships = [...membershipsOf(directory, userId)]
  if (directory.users.get(userId)?.administrator !== true) return memberships
  const known = new Set(memberships.map(({ team }) => team))
  const others = [...sorted(directory.teams.keys())].filter((team) => !known.has(team))
  return [...memberships, ...others.slice(0, MAX_TEAMS).map((team) => ({ team, roles: [] }))]
}

const MAX_TEAMS = 1000

/** What a page gets with its HTML. */
export const bootFrom =
  (services: SessionServices) =>
  (headers: IncomingHttpHeaders): object => {
    const token = sessionTokenIn(headers)
    const principal = token === undefined ? undefined : services.access.authenticateSession(token)
    return {
      signedIn: principal === undefined ? null : shown(services, principal.userId, principal.keyId),
      address: services.publicUrl ?? '',
    }
  }

const MAX_FAILURES = 20
const FAILURES_MS = 60_000

const signIn = (services: SessionServices): AnyRoute => {
  /** Failed sign-ins of the last minute, by address, which many people may share: a valid key always signs in. */
  const failures = new LRUCache<string, number>({ max: 10_000, ttl: FAILURES_MS })
  return openRoute({
    method: 'post',
    path: PATH,
    summary:
      'Signs in with an API key: the response sets a cookie, which the pages of this service send instead of the key. The ' +
      'session ends after 12 hours without a request, and after 7 days.',
    body: closed('SignIn', { required: { api_key: string } }),
    errors: ['unauthenticated', 'forbidden', 'conflict', 'rate-limited', 'overloaded'],
    response: signedIn,
    handle: async ({ body: { api_key }, headers, stream, cause }) => {
      requireOwnHost(headers, services.publicUrl)
      const address = (stream as { socket?: { remoteAddress?: string } }).socket?.remoteAddress ?? ''
      const principal = services.access.authenticate(api_key)
      if (principal?.scope === 'training_worker') throw onlyForWorkers()
      if (principal === undefined) {
        const failed = (failures.get(address) ?? 0) + 1
        failures.set(address, failed)
        if (failed <= MAX_FAILURES) throw new Failure('unauthenticated', 'This is not a valid API key.')
        const says = 'Too many failed sign-ins. Try again in a minute.'
        throw new Failure('rate-limited', says, { retryAfter: 60 })
      }
      const { key, known } = makeSession(services, principal.keyId)
      const command = { type: 'IssueApiKey', user: principal.userId, key: known } as const
      const { refusals } = await services.access.run(command, { ...cause, actor: principal.userId })
      throwIfRefused(refusals.get(0))
      return {
        body: shown(services, principal.userId, known.key_id),
        headers: sessionCookie(headers, key, MAX_SESSION_MS, services.publicUrl),
      }
    },
  })
}

const showSessions = (services: SessionServices): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary: 'The user of the session or API key, with teams, roles and sessions.',
    response: signedIn,
    authorization: anyKey,
    handle: ({ principal: { userId, keyId } }) => ({ body: shown(services, userId, keyId) }),
  })

const endOf = (user: string, key_id: string) =>
  ({ type: 'RevokeApiKey', by: user, user, key_id, cascade: false }) as const

const signOut = (services: SessionServices): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: PATH,
    summary: "Ends the session of the request, or with `?all=true` all of the user's sessions.",
    query: closed('SignOut', { optional: { all: withDefault(oneOf('true', 'false'), 'false') } }),
    response: emptyResponse,
    authorization: anyKey,
    handle: ({ query: { all }, headers, principal: { userId: user, keyId } }) => {
      const { sessionIds } = services.access.directory().users.get(user)!
      const ids = [...sessionIds].filter((key_id) => all === 'true' || key_id === keyId)
      return async (cause) => {
        for (const key_id of ids) await services.access.run(endOf(user, key_id), cause)
        return { body: {}, headers: sessionCookie(headers, null, 0, services.publicUrl) }
      }
    },
  })

const endSession = (services: SessionServices): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: `${PATH}/:id`,
    summary: "Ends one of the user's sessions.",
    errors: ['not-found'],
    response: emptyResponse,
    authorization: anyKey,
    handle: ({ params, principal: { userId: user } }) => {
      const key_id = params['id']!
      const sessions = [...sessionsOf(services.access.directory(), user, instantOf(services.clock.now()))]
      if (!sessions.some((session) => session.key_id === key_id))
        throw new Failure('not-found', 'Session not found.')
      return async (cause) => {
        await services.access.run(endOf(user, key_id), cause)
        return { body: {} }
      }
    },
  })

export const sessionRoutes = (services: SessionServices): readonly AnyRoute[] => [
  signIn(services),
  showSessions(services),
  signOut(services),
  endSession(services),
]
