import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import * as E from 'fp-ts/lib/Either.js'
import { decode, type Codec } from '../../kernel/codec/codec.js'
import type { Problem } from '../../kernel/codec/problem.js'
import { entityOf, projectId } from '../../kernel/ids.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { deeperThan, MAX_DEPTH } from '../../kernel/json/measure.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { Failure, invalidBody } from '../../application/failure.js'
import type { ParsedJson } from '../../kernel/json/parse-in-steps.js'
import { defaultEntity, type Principal } from '../../application/principal.js'
import { authorizeRead, projectRefusal } from '../../application/access/project-access.js'
import { acknowledgeProjects } from '../server/write-steps.js'
import type { RouteRequest } from '../server/route.js'
import { projectOf, type CallWrite } from '../../application/calls/record.js'
import { recordRejected, type RejectedElement } from '../../application/calls/rejected-elements.js'
import { later } from '../../kernel/later.js'
import { writeCalls, type WriteResult } from '../../application/calls/write-calls.js'

/** Each element takes about 1 KB of memory, even if it is rejected. The 10 MiB batches of SDKs hold half as many. */
export const MAX_ELEMENTS = 100_000

interface RawElement {
  /** The index in the batch. */
  readonly index: number
  readonly raw: Json
  readonly mayBeTooDeep: boolean
}

/** An element with its writes, or why it is rejected. */
interface BatchElement {
  readonly index: number
  readonly raw: Json
  readonly writes: readonly CallWrite[]
  readonly problem?: Problem
}

/** Splits the envelope `{batch: [...]}` into undecoded elements. */
export const elementsOf = (
  { value, isTooDeep }: ParsedJson,
  envelope: Codec<{ readonly batch: readonly Json[] }>,
): readonly RawElement[] => {
  const decoded = decode(envelope)(value)
  if (E.isLeft(decoded)) throw invalidBody(decoded.left)
  const { batch } = decoded.right
  if (batch.length > MAX_ELEMENTS)
    throw new Failure(
      'too-large',
      `The batch exceeds the limit of ${MAX_ELEMENTS} elements. Split it into smaller batches.`,
    )
  return batch.map((raw, index) => ({ index, raw, mayBeTooDeep: isTooDeep }))
}

/** The nesting depth of the envelope. */
const ENVELOPE_DEPTH = 2

export const decodeElement =
  <A>(codec: Codec<A>, writesOf: (a: A, index: number) => readonly CallWrite[]) =>
  ({ index, raw, mayBeTooDeep }: RawElement): BatchElement => {
    const element = { index, raw, writes: [] }
    if (mayBeTooDeep && deeperThan(raw, MAX_DEPTH - ENVELOPE_DEPTH)) return reject(element, TOO_DEEP)
    const decoded = decode(codec)(raw)
    return E.isLeft(decoded)
      ? reject(element, decoded.left[0]!)
      : { ...element, writes: writesOf(decoded.right, index) }
  }

export const reject = (element: BatchElement, { loc, ...problem }: Problem): BatchElement => ({
  ...element,
  writes: [],
  problem: { ...problem, loc: ['body', 'batch', element.index, ...loc] },
})

const problemOf = (msg: string, loc: Problem['loc'] = [], type = 'value_error'): Problem => ({
  loc,
  type,
  msg,
})

const TOO_DEEP = problemOf(`Input should have at most ${MAX_DEPTH} levels of nesting`, [], 'recursion_depth')
const TOO_LARGE = problemOf('Value error, the call is too large for one event')
const NOT_PERMITTED = problemOf('Value error, project not found', ['project_id'])
export const OTHER_PROJECT = problemOf('Value error, the project should match the path', ['project_id'])

export const isOf =
  (project: string) =>
  ({ writes: [write] }: BatchElement): boolean =>
    write === undefined || projectOf(write) === project

export interface AuthorizedBatch {
  readonly elements: readonly BatchElement[]
  /** The projects of all permitted writes. */
  readonly project: readonly string[]
  /** The project for rejected elements without a project. */
  readonly home: string
}

/** Rejects elements of projects without access. If no element is permitted, throws a 404. */
export const authorizeElements = (
  { access }: Pick<Services, 'access'>,
  elements: readonly BatchElement[],
  principal: Principal,
  inPath?: string,
): AuthorizedBatch => {
  let refusal: Failure | undefined
  const isPermitted = (project: string) => {
    const refused = projectRefusal(access, principal, project)
    refusal ??= refused
    return refused === undefined
  }
  const checked = elements.map((element) => {
    const [write] = element.writes
    return write === undefined || isPermitted(projectOf(write)) ? element : reject(element, NOT_PERMITTED)
  })
  const writes = checked.flatMap((element) => element.writes)
  if (writes.length === 0 && refusal !== undefined) throw refusal
  const unattributed = `${defaultEntity(principal)}/unattributed`
  const home = inPath ?? (writes[0] === undefined ? unattributed : projectOf(writes[0]))
  authorizeRead(access, principal, home)
  return { elements: checked, project: [...new Set(writes.map(projectOf))], home }
}

type BatchRequest = AuthorizedBatch & Pick<RouteRequest<ParsedJson>, 'principal' | 'cause'>

/**
 * Records the valid elements, and stores the invalid ones in the project that they name or in `home`. `rejected` has the
 * problem of each element that is not recorded.
 */
export const recordBatch = async (
  services: Pick<Services, keyof Ports | 'access' | 'reading'>,
  { elements, project, home, principal, cause }: BatchRequest,
) => {
  const writes = elements.flatMap((element) => element.writes)
  const { written, position } = await writeCalls(services)(writes, cause)
  let next = 0
  const results: JsonObject[] = []
  const rejected: Problem[] = []
  const unrecorded: RejectedElement[] = []
  for (const element of elements) {
    const own = written.slice(next, (next += element.writes.length))
    const { problem } = rejectRefused(element, own)
    results.push(element.problem === undefined ? resultOf(element, own) : resultOfRejected(element.raw))
    if (problem === undefined) continue
    rejected.push(problem)
    if (problem.type === CONFLICT) continue
    const named = namedProject(element.raw)
    const isHere = projectId.is(named) && services.access.canAccessProject(principal, named)
    unrecorded.push({ project_id: isHere ? named : home, problem, raw: element.raw })
  }
  const stored = await storeRejected(services, unrecorded, { principal, cause })
  return {
    results,
    rejected,
    position:
      later(acknowledgeProjects(services, project, position), stored) ??
      services.reading.ackPosition(home, undefined),
    headers: rejected.length === 0 ? {} : { 'Tallytree-Refused': String(rejected.length) },
  }
}

/** A conflict is recorded in the stream of its call; the content of a deleted call is not wanted. */
const CONFLICT = 'conflict'

const rejectRefused = (element: BatchElement, written: readonly WriteResult[]): BatchElement => {
  const refused = written.find((one) => one.refused !== undefined)?.refused
  if (refused === undefined) return element
  return reject(element, refused === 'too-large' ? TOO_LARGE : problemOf(refused.reason, [], CONFLICT))
}

const resultOf = ({ writes }: BatchElement, [first]: readonly WriteResult[]): JsonObject =>
  writes[0]?.type === 'StartCall' && first !== undefined ? { id: first.id, trace_id: first.trace_id } : {}

/** Responds to a rejected start as if it were accepted, because SDKs read the id from the response. */
const resultOfRejected = (raw: Json): JsonObject => {
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

const storeRejected = async (
  services: Pick<Services, 'eventStore' | 'blobs' | 'sha256' | 'access' | 'reading'>,
  rejected: readonly RejectedElement[],
  { principal, cause }: Pick<BatchRequest, 'principal' | 'cause'>,
): Promise<Position | undefined> => {
  const projects = [...new Set(rejected.map(({ project_id }) => project_id))]
  for (const entity of new Set(projects.map(entityOf)))
    await services.access.ensureTeam(principal, entity, cause)
  const position = await recordRejected(services)(rejected, cause)
  return acknowledgeProjects(services, projects, position)
}
