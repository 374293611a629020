import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { AnyCodec, Codec, JsonSchema } from '../domain/codec/codec.js'
import type { Cause } from '../domain/event.js'
import type { Position } from '../domain/ports/event-store.js'
import type { ResponseHeader, RequestHeader } from './conduct.js'
import type { FailureKind } from './failure.js'
import type { Principal } from './principal.js'

/** A decoded request. */
export interface RouteRequest<Body> {
  readonly body: Body
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | string[] | undefined>>
  readonly headers: IncomingHttpHeaders
  /** As of when the body had been read. */
  readonly principal: Principal
  /** For handlers that read the stream: as of now. Throws the failure of a key that is not valid any more. */
  readonly reauthenticate: () => Principal
  readonly cause: Cause
  /** The body as it came, for routes without a JSON body. */
  readonly stream: Readable
  readonly onDisconnect: OnDisconnect
}

/** Calls what it is given once the client is gone before it has the whole answer; answers with how to hear no more of it. */
export type OnDisconnect = (leave: () => void) => () => void

export interface RouteResponse {
  readonly status?: number
  /** An object is written as JSON, a string or a stream as it is. */
  readonly body: unknown
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The log position the answer speaks of, sent as `Tallytree-Position`. */
  readonly position?: Position | undefined
}

export interface ResponseSpec {
  readonly schema: JsonSchema
  readonly type?: string
  /** Another type that it may have, where the request asks for that. */
  readonly alternative?: { readonly type: string; readonly schema: JsonSchema }
  /** Headers that it may carry; without them, where a key is needed, the position. */
  readonly headers?: readonly ResponseHeader[]
}

export interface Route<Body = unknown> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** In the router's form, `/v2/:entity/:project/call/start`. */
  readonly path: string
  /** One sentence for the API description. */
  readonly summary: string
  /** Open routes need no key. */
  readonly access?: 'open'
  /** How failures are told: as clients of chat completions expect, instead of the service's own way. */
  readonly errorFormat?: 'chat'
  /** The JSON body; absent where the route takes none or reads the stream itself. */
  readonly body?: Codec<Body>
  /** The parts of the multipart form that the route reads from the stream. */
  readonly form?: JsonSchema
  /**
   * The handler gets the JSON undecoded, as `JsonBody`, and decodes `body` element by element, so that one odd element
   * does not refuse its neighbours.
   */
  readonly lenientBatch?: true
  /** The parameters behind the path, for the API description. */
  readonly query?: AnyCodec
  /** Request headers that matter to it, for the API description. */
  readonly requestHeaders?: readonly RequestHeader[]
  /**
   * How it may fail beyond what follows from needing a key, a body or a form; without it, the API description says
   * that it may fail in every way.
   */
  readonly errors?: readonly FailureKind[]
  /** What a 200 carries. */
  readonly response: ResponseSpec & {
    /** Answers of other statuses that are no failures. */
    readonly otherStatuses?: Readonly<Record<number, ResponseSpec & { readonly says: string }>>
  }
  readonly handle: (asked: RouteRequest<Body>) => Promise<RouteResponse>
}

export type AnyRoute = Omit<Route, 'handle' | 'body'> & {
  readonly body?: AnyCodec
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the body's type is tied to `body` by `route`
  readonly handle: (asked: RouteRequest<any>) => Promise<RouteResponse>
}

/** Ties a route's handler to the type that its codec decodes to. */
export const route = <Body = undefined>(description: Route<Body>): AnyRoute => description
