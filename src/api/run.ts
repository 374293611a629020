import type { Cause } from '../domain/event.js'
import type { ExecuteResult } from '../runtime/execute.js'
import type { JsonObject } from '../domain/json/json.js'
import type { Position } from '../domain/ports/event-store.js'
import { throwIfRefused } from './auth/rights.js'
import type { RouteRequest, RouteResponse } from './route.js'

export type Eventually<A> = A | Promise<A>

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the kind ties body and query to the handler
export type AnyRequest = RouteRequest<any, any>

type Authorize<Scope> = (request: AnyRequest) => Eventually<Scope>

/** The query and the response, once the read models have reached the position. */
type Query = (position: Position) => Eventually<RouteResponse>

/** What a handler makes of a read request: its query, and how to wait for the position where not as its kind does. */
export type PlannedRead = Query | { readonly waitFor: () => Promise<Position>; readonly read: Query }

interface WriteResponse extends RouteResponse {
  /** Where what a repeat found can be read, when it wrote nothing and has no `position`. */
  readonly readableAt?: Position | undefined
}

/** What a handler makes of a write request; `position` of the response is where the last event was written. */
export type PlannedWrite = (cause: Cause) => Eventually<WriteResponse>

/** Authorise, let the handler check the request, wait for the position, query, respond with the position. */
export const runRead =
  <Request extends AnyRequest, Scope extends object>(
    { authorize }: { readonly authorize: Authorize<Scope> },
    handle: (request: Request & Scope) => Eventually<PlannedRead>,
    waitFor: (request: Request & Scope) => Promise<Position>,
  ) =>
  async (request: Request): Promise<RouteResponse> => {
    const authorized = { ...(await authorize(request)), ...request }
    const planned = await handle(authorized)
    const isUsual = typeof planned === 'function'
    const position = await (isUsual ? waitFor(authorized) : planned.waitFor())
    return { position, ...(await (isUsual ? planned : planned.read)(position)) }
  }

/** What a kind of writes does between the check of a request and its write, and after it. */
interface WriteSteps<Request> {
  readonly prepare: (request: Request) => Promise<void>
  /** The position of the response. */
  readonly acknowledge: (request: Request, written: WriteResponse) => Position | undefined
}

/** Authorise, let the handler check the request, prepare, write, acknowledge the position, respond. */
export const runWrite =
  <Request extends AnyRequest, Scope extends object>(
    { authorize }: { readonly authorize: Authorize<Scope> },
    handle: (request: Request & Scope) => Eventually<PlannedWrite>,
    { prepare, acknowledge }: WriteSteps<Request & Scope>,
  ) =>
  async (request: Request): Promise<RouteResponse> => {
    const authorized = { ...(await authorize(request)), ...request }
    const write = await handle(authorized)
    await prepare(authorized)
    const written = await write(authorized.cause)
    const { readableAt: _, ...response } = written
    return { ...response, position: acknowledge(authorized, written) }
  }

interface Responding<State, Event> {
  /** `{}` without it. */
  readonly respond?: (executed: ExecuteResult<State, Event>) => Omit<RouteResponse, 'position'>
  /** Further members of the body when the first command is refused. */
  readonly refusalBody?: (state: State) => JsonObject
}

/** A write of commands to one stream; a refusal of the first is the failure of the request. */
export const writing =
  <State, Event>(
    run: (cause: Cause) => Promise<ExecuteResult<State, Event>>,
    { respond, refusalBody }: Responding<State, Event> = {},
  ): PlannedWrite =>
  async (cause) => {
    const executed = await run(cause)
    throwIfRefused(executed.refusals.get(0), refusalBody?.(executed.state))
    return { body: {}, ...respond?.(executed), position: executed.position, readableAt: executed.readableAt }
  }
