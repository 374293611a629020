import type { Problem } from '../../domain/codec/problem.js'
import type { Cause } from '../../domain/event.js'
import { entityOf, projectId } from '../../domain/ids.js'
import { isJsonObject, type Json, type JsonObject } from '../../domain/json/json.js'
import type { Position } from '../../domain/ports/event-store.js'
import { defaultEntity, type Principal } from '../principal.js'
import type { JsonBody } from '../http/read-json.js'
import { noSuchProject } from '../projects/access.js'
import type { RouteRequest } from '../route.js'
import { acknowledgeProjects } from '../projects/write-steps.js'
import type { CallWrite } from './call-writes.js'
import { elementTexts } from './element-texts.js'
import type { BatchElement } from './elements.js'
import { recordRefusals, type ElementRefusal } from './refusals.js'
import { later, projectOf, type Tracing } from './tracing.js'
import { writeCalls, type WriteResult } from './write-calls.js'

/** A decoded element of a batch: its writes, or why it is refused. */
export interface DecodedElement extends BatchElement {
  readonly problem?: Problem
  readonly writes: readonly CallWrite[]
}

export interface AuthorizedBatch {
  readonly elements: readonly DecodedElement[]
  /** The projects of all permitted writes. */
  readonly project: readonly string[]
  /** The project for refused elements without a project. */
  readonly home: string
}

interface BatchResult {
  /** In the order of the elements. */
  readonly answers: readonly JsonObject[]
  readonly position: Position | undefined
  readonly headers: Readonly<Record<string, string>>
}

const NOT_PERMITTED = { type: 'value_error', msg: 'Value error, project not found' }
const TOO_LARGE = { type: 'value_error', msg: 'Value error, the call is too large for one event' }

/** Refuses elements of projects without access. If no element is permitted, throws a 404. */
export const authorizeElements = (
  { teams }: Pick<Tracing, 'teams'>,
  elements: readonly DecodedElement[],
  { principal }: Pick<RouteRequest, 'principal'>,
  inPath?: string,
): AuthorizedBatch => {
  const isPermitted = permission(teams, principal)
  const checked = elements.map((element) => (isForeign(element, isPermitted) ? foreign(element) : element))
  const writes = checked.flatMap((element) => element.writes)
  if (writes.length === 0 && elements.some((element) => isForeign(element, isPermitted)))
    throw noSuchProject()
  const home = inPath ?? (writes[0] === undefined ? unattributed(principal) : projectOf(writes[0]))
  if (!isPermitted(home)) throw noSuchProject()
  return { elements: checked, project: [...new Set(writes.map(projectOf))], home }
}

/** Records the valid elements, and stores the refused ones in the project that they name or in `home`. */
export const recordBatch = async (
  tracing: Tracing,
  {
    elements,
    project,
    home,
    principal,
    cause,
    body,
  }: AuthorizedBatch & Pick<RouteRequest<JsonBody>, 'principal' | 'cause' | 'body'>,
): Promise<BatchResult> => {
  const { written, position } = await writeCalls(tracing.ports)(
    elements.flatMap(({ writes }) => writes),
    cause,
  )
  const answered = answersOf(elements, written)
  const refused = answered.flatMap(({ element, problem }) =>
    problem === undefined ? [] : [{ element, problem }],
  )
  const refusals = refusalsOf(refused, body, home, permission(tracing.teams, principal))
  const kept = await keep(tracing, refusals, principal, cause)
  return {
    answers: answered.map(({ answer }) => answer),
    position:
      later(acknowledgeProjects(tracing, project, position), kept) ??
      tracing.reading.ackPosition(home, undefined),
    headers: refused.length === 0 ? {} : { 'Tallytree-Refused': String(refused.length) },
  }
}

type IsPermitted = (project: string) => boolean

const permission =
  ({ canAccessTeam }: Tracing['teams'], principal: Principal): IsPermitted =>
  (project) =>
    canAccessTeam(principal, entityOf(project))

/** The project for refused elements of a batch without any project. */
const unattributed = (principal: Principal): string => `${defaultEntity(principal)}/unattributed`

const isForeign = ({ writes }: DecodedElement, isPermitted: IsPermitted): boolean => {
  const [write] = writes
  return write !== undefined && !isPermitted(projectOf(write))
}

const foreign = (element: DecodedElement): DecodedElement => ({
  ...element,
  writes: [],
  problem: { loc: ['body', 'batch', element.index, 'project_id'], ...NOT_PERMITTED },
})

const answersOf = (elements: readonly DecodedElement[], written: readonly WriteResult[]) => {
  let next = 0
  return elements.map((element) => {
    const own = written.slice(next, (next += element.writes.length))
    if (element.problem !== undefined)
      return { element, answer: answerOfRefused(element.raw), problem: element.problem }
    const tooLarge = own.some(({ refused }) => refused === 'too-large')
    const problem = tooLarge ? { loc: ['body', 'batch', element.index], ...TOO_LARGE } : undefined
    const [first] = own
    const isStart = element.writes[0]?.type === 'StartCall'
    const answer: JsonObject =
      isStart && first !== undefined ? { id: first.id, trace_id: first.trace_id } : {}
    return { element, answer, problem }
  })
}

/** Responds to a refused start as if it were accepted, because SDKs read the id from the response. */
const answerOfRefused = (raw: Json): JsonObject => {
  const start = requestOf(raw)?.['start']
  if (!isJsonObject(start) || typeof start['id'] !== 'string') return {}
  const { id, trace_id } = start
  return { id, trace_id: typeof trace_id === 'string' && trace_id !== '' ? trace_id : id }
}

const requestOf = (raw: Json): JsonObject | undefined =>
  isJsonObject(raw) && isJsonObject(raw['req']) ? raw['req'] : undefined

const namedProject = (raw: Json): unknown => {
  const request = requestOf(raw)
  const part = request?.['start'] ?? request?.['end'] ?? raw
  return isJsonObject(part) ? part['project_id'] : undefined
}

interface RefusedElement {
  readonly element: DecodedElement
  readonly problem: Problem
}

const refusalsOf = (
  refused: readonly RefusedElement[],
  body: JsonBody,
  otherwise: string,
  isPermitted: IsPermitted,
): readonly ElementRefusal[] => {
  if (refused.length === 0) return []
  const texts = elementTexts(body.text)
  return refused.map(({ element, problem }) => {
    const named = namedProject(element.raw)
    const project_id = projectId.is(named) && isPermitted(named) ? named : otherwise
    return { project_id, problem, text: texts[element.index]! }
  })
}

const keep = async (
  tracing: Tracing,
  refused: readonly ElementRefusal[],
  principal: Principal,
  cause: Cause,
): Promise<Position | undefined> => {
  const projects = [...new Set(refused.map(({ project_id }) => project_id))]
  for (const entity of new Set(projects.map(entityOf)))
    await tracing.teams.ensureTeam(principal, entity, cause)
  const kept = await recordRefusals(tracing.ports)(refused, cause)
  return acknowledgeProjects(tracing, projects, kept)
}
