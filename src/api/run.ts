import type { Decider, DomainEvent } from '../domain/decider.js'
import type { Cause } from '../domain/event.js'
import { execute, type Executed, type ExecuteOptions } from '../domain/execute.js'
import type { Position } from '../domain/ports/event-store.js'
import type { Ports } from '../domain/ports/ports.js'
import { throwIfRefused } from './auth/rights.js'
import type { RouteRequest, RouteResponse } from './route.js'

type Eventually<A> = A | Promise<A>

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the kind ties body and query to the handler
export type AnyRequest = RouteRequest<any, any>

type Authorize<Scope> = (request: AnyRequest) => Eventually<Scope>

/** The query and the response, once the read models have reached the position. */
type Query = (position: Position) => Eventually<RouteResponse>

/** What a handler makes of a read request: its query, and how to wait for the position where not as its kind does. */
export type PlannedRead = Query | { readonly waitFor: () => Promise<Position>; readonly read: Query }

/** What a handler makes of a write request; `position` of the response is where the last event was written. */
export type PlannedWrite = (cause: Cause) => Eventually<RouteResponse>

/** Authorise, let the handler check the request, wait for the position, query, respond with the position. */
export const runRead =
  <Scope extends object>(
    authorize: Authorize<Scope>,
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
    handle: (request: any) => Eventually<PlannedRead>,
    waitFor: (request: AnyRequest & Scope) => Promise<Position>,
  ) =>
  async (request: AnyRequest): Promise<RouteResponse> => {
    const authorized = { ...request, ...(await authorize(request)) }
    const planned = await handle(authorized)
    const isUsual = typeof planned === 'function'
    const position = await (isUsual ? waitFor(authorized) : planned.waitFor())
    return { position, ...(await (isUsual ? planned : planned.read)(position)) }
  }

/** Authorise, let the handler check the request, prepare, write, acknowledge the position, respond. */
export const runWrite =
  <Scope extends object>(
    authorize: Authorize<Scope>,
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
    handle: (request: any) => Eventually<PlannedWrite>,
    prepare: (request: AnyRequest & Scope) => Promise<void>,
    acknowledge: (request: AnyRequest & Scope, position: Position | undefined) => Position | undefined,
  ) =>
  async (request: AnyRequest): Promise<RouteResponse> => {
    const authorized = { ...request, ...(await authorize(request)) }
    const write = await handle(authorized)
    await prepare(authorized)
    const response = await write(authorized.cause)
    return { ...response, position: acknowledge(authorized, response.position) }
  }

interface PlannedExecution<State, Command, Event extends DomainEvent> extends ExecuteOptions<State> {
  readonly decider: Decider<State, Command, Event>
  readonly stream: string
  readonly commands: readonly Command[]
  /** `{}` without it. */
  readonly respond?: (executed: Executed<State, Event>) => Omit<RouteResponse, 'position'>
}

/** A write of commands to one stream; a refusal of the first is the failure of the request. */
export const executing =
  <State, Command, Event extends DomainEvent>(
    ports: Pick<Ports, 'eventStore' | 'ids'>,
    { decider, stream, commands, respond, ...options }: PlannedExecution<State, Command, Event>,
  ): PlannedWrite =>
  async (cause) => {
    const executed = await execute(ports)(decider, stream, commands, cause, options)
    throwIfRefused(executed.refusals.get(0))
    return { body: {}, ...respond?.(executed), position: executed.position }
  }
