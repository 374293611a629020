import type { Cause } from '../../kernel/event.js'
import type { ExecuteResult } from '../../kernel/execute.js'
import { entityOf } from '../../kernel/ids.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { defaultEntity, type Principal } from '../../application/principal.js'
import type { RouteRequest, RouteResponse } from './route.js'

export type Eventually<A> = A | Promise<A>

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the kind ties body and query to the handler
export type AnyRequest = RouteRequest<any, any>

/** The reader of a request: limited to the team's share, and cancelled when the client disconnects. */
export interface HasReader {
  readonly reader: ClickHouseReader
}

type Authorize<Scope> = (request: AnyRequest) => Eventually<Scope>

/** Queries and responds, once the read models have reached the position. */
type Query<Answer> = (position: Position) => Eventually<RouteResponse<Answer>>

/** What a read handler returns: its query, and how to wait for the position if not as its kind does. */
export type PlannedRead<Answer = unknown> =
  Query<Answer> | { readonly waitFor: () => Promise<Position>; readonly read: Query<Answer> }

type WriteResponse<Answer = unknown> = RouteResponse<Answer> & {
  /** The position of the earlier write, when a retry wrote nothing and has no `position`. */
  readonly readableAt?: Position | undefined
}

/** What a write handler returns. The `position` of the response is that of the last event written. */
export type PlannedWrite<Answer = unknown> = (cause: Cause) => Eventually<WriteResponse<Answer>>

/** Authorise, let the handler check the request, wait for the position, query, respond with the position. */
export const runRead =
  <Request extends AnyRequest, Scope extends object>(
    { authorize }: { readonly authorize: Authorize<Scope> },
    handle: (request: Request & Scope & HasReader) => Eventually<PlannedRead>,
    waitFor: (request: Request & Scope) => Promise<Position>,
  ) =>
  async (request: Request): Promise<RouteResponse> => {
    const authorized = withScope(request, await authorize(request))
    const planned = await handle(authorized)
    const isUsual = typeof planned === 'function'
    const position = await (isUsual ? waitFor(authorized) : planned.waitFor())
    return { position, ...(await (isUsual ? planned : planned.read)(position)) }
  }

/** The steps of a kind of write around the handler. */
interface WriteSteps<Request> {
  readonly prepare: (request: Request) => Promise<void>
  /** Returns the position of the response. */
  readonly acknowledge: (request: Request, written: WriteResponse) => Position | undefined
}

/** Authorise, let the handler check the request, prepare, write, acknowledge the position, respond. */
export const runWrite =
  <Request extends AnyRequest, Scope extends object>(
    { authorize }: { readonly authorize: Authorize<Scope> },
    handle: (request: Request & Scope & HasReader) => Eventually<PlannedWrite>,
    { prepare, acknowledge }: WriteSteps<Request & Scope>,
  ) =>
  async (request: Request): Promise<RouteResponse> => {
    const authorized = withScope(request, await authorize(request))
    const write = await handle(authorized)
    await prepare(authorized)
    const written = await write(authorized.cause)
    return { ...written, position: acknowledge(authorized, written) }
  }

/**
 * Names the members of the request before the spread, on the path of every request: in Node 20 a literal that begins with a spread and
 * then adds members makes a new hidden class each time, 3,500 ns in place of 50.
 */
export const withScope = <Request extends AnyRequest, Scope extends object>(
  request: Request,
  scope: Scope,
): Request & Scope & HasReader => {
  const { body, params, query, headers } = request as RouteRequest
  const { principal, reauthenticate, cause, stream, onDisconnect, memory, readerOf } = request
  return {
    body,
    params,
    query,
    headers,
    principal,
    reauthenticate,
    cause,
    stream,
    onDisconnect,
    memory,
    readerOf,
    reader: readerOf(teamOf(scope, principal)),
    ...scope,
  } as Request & Scope & HasReader
}

/** The team on whose behalf the request reads. */
const teamOf = (
  { project, team }: { readonly project?: unknown; readonly team?: unknown },
  principal: Principal,
): string => {
  if (typeof project === 'string') return entityOf(project)
  return typeof team === 'string' ? team : defaultEntity(principal)
}

type Run<State, Event> = (cause: Cause) => Promise<ExecuteResult<State, Event>>

/** Writes commands to one stream, and answers `{}`. A refusal of the first command is the failure of the request. */
export function writing<State, Event>(run: Run<State, Event>): PlannedWrite<Readonly<Record<string, never>>>
/** `refusalBody` are further members of the body when the first command is refused. */
export function writing<State, Event, Answer>(
  run: Run<State, Event>,
  answer: (executed: ExecuteResult<State, Event>) => Eventually<Answer>,
  refusalBody?: (state: State) => JsonObject,
): PlannedWrite<Answer>
export function writing<State, Event>(
  run: Run<State, Event>,
  answer: (executed: ExecuteResult<State, Event>) => unknown = () => ({}),
  refusalBody?: (state: State) => JsonObject,
): PlannedWrite {
  return async (cause) => {
    const executed = await run(cause)
    throwIfRefused(executed.refusals.get(0), refusalBody?.(executed.state))
    return { body: await answer(executed), position: executed.position, readableAt: executed.readableAt }
  }
}
