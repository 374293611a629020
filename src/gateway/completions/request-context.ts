import type { IncomingHttpHeaders } from 'node:http'
import { callStream } from '../../domain/calls/call.js'
import {
  cacheSeconds,
  projectDecider,
  projectStream,
  recordLevel,
  type RecordLevel,
} from '../../domain/projects/project.js'
import { readState } from '../../kernel/execute.js'
import { entityOf, id, PROJECT_RULE, projectId } from '../../kernel/ids.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { authorizeRead, projectInHeader } from '../../application/access/project-access.js'
import { Failure, invalid } from '../../application/failure.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { defaultEntity, type Principal } from '../../application/principal.js'
import type { Services } from '../../application/services.js'

const DEFAULT_PROJECT = 'inference'
const OPENAI_PROJECT_ID = /^proj_\w+$/

/**
 * The project of `<Vendor>-Project`, or of `OpenAI-Project`, or else that of a trained model, or else `inference` of the
 * key's default team.
 *
 * @throws Failure 401, as OpenAI does, for an invalid project or one that the key may not use
 */
export const projectFromHeaders = (
  { access, vendor }: Pick<Services, 'access' | 'vendor'>,
  headers: IncomingHttpHeaders,
  principal: Principal,
  modelProject?: string,
): string => {
  const header = headers[`${vendor.toLowerCase()}-project`] ?? headers['openai-project']
  const named = header === undefined || header === '' ? undefined : projectInHeader(String(header))
  const project = named ?? modelProject ?? `${defaultEntity(principal)}/${DEFAULT_PROJECT}`
  if (OPENAI_PROJECT_ID.test(project))
    throw refused('The project header has the id of a project of OpenAI: send team/project, or leave it out.')
  if (!projectId.is(project)) throw refused(`Invalid project header: expected team/project: ${PROJECT_RULE}.`)
  if (!access.canAccessTeam(principal, entityOf(project)))
    throw refused(
      named === undefined
        ? 'Authentication failed: the user of the API key is in no team. Ask a team administrator to add them.'
        : 'Authentication failed: the API key has no access to the team of the project header.',
    )
  authorizeRead(access, principal, project)
  return project
}

const refused = (reason: string): Failure => new Failure('unauthenticated', reason)

/** Headers of the client that upstreams get too, so that both appear in the same distributed trace. */
const FORWARDED = ['traceparent', 'x-request-id', 'x-client-request-id'] as const
/** The version decides what is valid in a request of Anthropic's API. */
const FORWARDED_ANTHROPIC = [...FORWARDED, 'anthropic-version', 'anthropic-beta'] as const
/** What releases of its SDKs sent that send none. */
const FIRST_VERSION = '2023-06-01'

/** Of a client's request, for upstreams. */
export interface PassedOn {
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}

/** @param url of the request, with its query */
export const passedOn = (headers: IncomingHttpHeaders, url: string, form: Endpoint['form']): PassedOn => {
  const isAnthropic = form === 'anthropic'
  const named = (isAnthropic ? FORWARDED_ANTHROPIC : FORWARDED).flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' && value !== '' ? [[name, value] as const] : []
  })
  const [, query = ''] = url.split('?')
  return {
    headers: { ...(isAnthropic ? { 'anthropic-version': FIRST_VERSION } : {}), ...Object.fromEntries(named) },
    query: isAnthropic ? Object.fromEntries(new URLSearchParams(query)) : {},
  }
}

/** The recorded parent and trace; null where the request names none. */
export interface TraceContext {
  readonly parentId: string | null
  readonly traceId: string | null
}

const NO_TRACE: TraceContext = { parentId: null, traceId: null }

/**
 * From `Tallytree-Parent-Call` (a call of the same project, which may not have been sent yet) and `Tallytree-Trace`, or
 * without either from `traceparent`. Automatic tracing names spans there that are never sent, so that parent has to exist.
 *
 * @throws Failure for an invalid id
 */
export const traceContext = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  project: string,
  headers: IncomingHttpHeaders,
): Promise<TraceContext> => {
  const parentId = idFromHeader(headers, 'Tallytree-Parent-Call')
  const traceId = idFromHeader(headers, 'Tallytree-Trace')
  if (parentId !== null || traceId !== null) return { parentId, traceId }
  const context = parseTraceparent(headers['traceparent'])
  if (context.parentId === null) return context
  const parent = eventStore.readStream(callStream(project, context.parentId), { limit: 1 })
  for await (const _ of parent) return context
  return { ...context, parentId: null }
}

const idFromHeader = (headers: IncomingHttpHeaders, name: string): string | null => {
  const text = utf8Header(headers, name.toLowerCase()) ?? ''
  if (text === '') return null
  if (id.is(text)) return text
  throw invalidHeader(name, 'Input should be an id of 1 to 256 bytes without control characters')
}

/** Node decodes headers as Latin-1; ids are UTF-8. */
export const utf8Header = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const header = headers[name]
  return header === undefined ? undefined : Buffer.from(String(header), 'latin1').toString('utf8')
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/

/** An invalid header is ignored (W3C Trace Context, 3.2). */
const parseTraceparent = (header: string | string[] | undefined): TraceContext => {
  const [, version, traceId = '', parentId = '', more] = TRACEPARENT.exec(String(header ?? '').trim()) ?? []
  const isKnown = version !== undefined && version !== 'ff' && !(version === '00' && more !== undefined)
  return isKnown && /[^0]/.test(traceId) && /[^0]/.test(parentId) ? { parentId, traceId } : NO_TRACE
}

const RECORD_HEADER = 'Tallytree-Record'

const CACHE_HEADER = 'Tallytree-Cache'

/** How a request is served, beyond its body. */
export interface RequestSettings {
  readonly level: RecordLevel
  /** How old an answer of an equal request may be; 0 for no such answer. */
  readonly cacheSeconds: number
}

/**
 * The project's settings, or what the request asks for: less of the record, and another age of cached answers.
 *
 * @throws Failure for an unknown level or age
 */
export const requestSettings = async (
  ports: Pick<Ports, 'eventStore'>,
  project: string,
  headers: IncomingHttpHeaders,
): Promise<RequestSettings> => {
  const requested = headers[RECORD_HEADER.toLowerCase()] ?? 'all'
  if (!recordLevel.is(requested)) throw invalidHeader(RECORD_HEADER, "Input should be 'all' or 'metadata'")
  const seconds = headers[CACHE_HEADER.toLowerCase()]
  const asked = seconds === undefined ? undefined : Number(seconds)
  if (asked !== undefined && !cacheSeconds.is(asked))
    throw invalidHeader(CACHE_HEADER, 'Input should be a whole number of seconds up to 30 days, or 0')
  const state = await readState(ports, projectDecider, projectStream(project))
  const level = requested === 'metadata' ? requested : state.record
  return { level, cacheSeconds: asked ?? state.cacheSeconds }
}

const invalidHeader = (name: string, msg: string): Failure =>
  invalid([{ loc: ['header', name], type: 'value_error', msg }])
