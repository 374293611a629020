import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Codec, JsonSchema } from '../domain/codec/codec.js'
import type { Cause } from '../domain/event.js'
import type { Position } from '../domain/ports/event-store.js'
import type { FailureKind } from './failure.js'
import type { Principal } from './principal.js'

/** A decoded request. */
export interface RouteRequest<Body = unknown, Query = unknown> {
  readonly body: Body
  readonly params: Readonly<Record<string, string>>
  /** Decoded when it is first read, so that a kind can authorise by the path before a bad query is a 422. */
  readonly query: Query
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

/** Calls back once the client is gone before it has the whole response; returns how to stop listening. */
export type OnDisconnect = (onDisconnect: () => void) => () => void

export interface RouteResponse {
  readonly status?: number
  /** An object is written as JSON, a string or a stream as it is. */
  readonly body: unknown
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The log position of the response, sent as `Tallytree-Position`. */
  readonly position?: Position | undefined
}

/** Request headers with a meaning of their own. */
export type RequestHeader =
  | 'Tallytree-Min-Position'
  | 'Tallytree-Stale'
  | 'Tallytree-As-Of'
  | 'Idempotency-Key'
  | 'Vendor-Project'
  | 'OpenAI-Project'
  | 'Tallytree-Parent-Call'
  | 'Tallytree-Trace'
  | 'traceparent'
  | 'Tallytree-Record'

/** Headers that a response may carry beside those of every response. */
export type ResponseHeader =
  | 'Retry-After'
  | 'Tallytree-Position'
  | 'Tallytree-Refused'
  | 'Tallytree-Truncated'
  | 'Tallytree-Unfinished-Descendants'
  | 'Tallytree-Unpriced-Models'

export interface ResponseSpec {
  readonly schema: JsonSchema
  readonly type?: string
  /** Another type that the response may have when the request asks for it. */
  readonly alternative?: { readonly type: string; readonly schema: JsonSchema }
  /** Without them, those of the route's kind. */
  readonly headers?: readonly ResponseHeader[]
}

/** What every route declares; its kind adds authorisation, headers and errors. */
export interface RouteSpec<Body = unknown, Query = unknown> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** In the router's form, `/v2/:entity/:project/call/start`. */
  readonly path: string
  /** One sentence for the API description. */
  readonly summary: string
  /** Errors in the format of chat completions, instead of the service's own. */
  readonly errorFormat?: 'chat'
  /** The JSON body; absent where the route takes none or reads the stream itself. */
  readonly body?: Codec<Body>
  /** The parts of the multipart form that the route reads from the stream. */
  readonly form?: JsonSchema
  /**
   * The handler gets the JSON undecoded, as `JsonBody`, and decodes `body` element by element, so that an invalid
   * element does not refuse its neighbours.
   */
  readonly lenientBatch?: true
  readonly query?: Codec<Query>
  /** Request headers beyond those of its kind. */
  readonly requestHeaders?: readonly RequestHeader[]
  /** How it may fail beyond its kind, its authorisation, and what follows from needing a key, a body or a form. */
  readonly errors?: readonly FailureKind[]
  /** What a 200 carries. */
  readonly response: ResponseSpec & {
    /** Responses of other statuses that are no failures. */
    readonly otherStatuses?: Readonly<Record<number, ResponseSpec & { readonly says: string }>>
  }
}

/** A route of any kind, ready to be served and described. */
export interface AnyRoute extends RouteSpec {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the type is tied to the handler by the route's kind
  readonly body?: Codec<any>
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the type is tied to the handler by the route's kind
  readonly query?: Codec<any>
  /** Open routes need no key. */
  readonly access?: 'open'
  readonly requestHeaders: readonly RequestHeader[]
  /** Without them, the description says that it may fail in every way. */
  readonly errors?: readonly FailureKind[]
  readonly responseHeaders: readonly ResponseHeader[]
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the type is tied to the handler by the route's kind
  readonly handle: (request: RouteRequest<any, any>) => Promise<RouteResponse>
}
