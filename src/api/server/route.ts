import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Codec, JsonSchema } from '../../kernel/codec/codec.js'
import type { Cause } from '../../kernel/event.js'
import type { MemoryLease } from '../../kernel/memory-account.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { FailureKind } from '../../application/failure.js'
import type { OnDisconnect } from '../../application/on-disconnect.js'
import type { Principal } from '../../application/principal.js'

export interface RouteRequest<Body = unknown, Query = unknown> {
  readonly body: Body
  readonly params: Readonly<Record<string, string>>
  /** Decoded lazily, so that authorisation by the path comes before a 422 for a bad query. */
  readonly query: Query
  readonly headers: IncomingHttpHeaders
  /** Authenticated after the body was read. */
  readonly principal: Principal
  /** For handlers that read the stream: authenticates again, and throws if the key was revoked meanwhile. */
  readonly reauthenticate: () => Principal
  readonly cause: Cause
  /** The raw body, for routes without a JSON body. */
  readonly stream: IncomingMessage
  readonly onDisconnect: OnDisconnect
  /** Released when the response is sent. */
  readonly memory: MemoryLease
  /** Reads in the share of the team until the client disconnects. The route kinds choose the team. */
  readonly readerOf: (team: string) => ClickHouseReader
}

interface AnyResponse {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The log position of the response, sent as `Tallytree-Position`. */
  readonly position?: Position | undefined
}

/** An answer that is written as JSON. */
interface JsonResponse<Answer> extends AnyResponse {
  readonly body: Answer
  readonly type?: never
}

/** Text, bytes and streams are written as they are; the compiler does not compare them with their description. */
export interface TextResponse extends AnyResponse {
  readonly body: string | Uint8Array | Readable
  /** The content type. */
  readonly type: string
}

export type RouteResponse<Answer = unknown> = JsonResponse<Answer> | TextResponse

/** Documented request headers. */
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
  | 'Tallytree-Cache'
  | 'anthropic-version'
  | 'anthropic-beta'
  | 'X-WANDB-ASYNC-CLIENT-ID'

/** Documented response headers, in addition to those of every response. */
export type ResponseHeader =
  | 'Retry-After'
  | 'Tallytree-Position'
  | 'Tallytree-Call-Id'
  | 'Tallytree-Cost'
  | 'Tallytree-Cache'
  | `x-ratelimit-${'limit' | 'remaining' | 'reset'}-${'requests' | 'tokens'}`
  | `anthropic-ratelimit-${'requests' | 'tokens'}-${'limit' | 'remaining' | 'reset'}`
  | 'Tallytree-Refused'
  | 'Tallytree-Truncated'
  | 'Tallytree-Unfinished-Descendants'
  | 'Tallytree-Unpriced-Models'
  | 'Tallytree-Erased-Calls'

/** A codec is one, or its members with further ones. Without the `answer` of a codec, the route answers text. */
export interface ResponseSpec<Answer = unknown> {
  readonly schema: JsonSchema
  /** Only a type, see `Codec`. */
  readonly answer?: Answer
  readonly type?: string
  /** Other content types that the request can choose, with their schemas. */
  readonly alternatives?: Readonly<Record<string, JsonSchema>>
  /** By default, those of the route's kind. */
  readonly headers?: readonly ResponseHeader[]
}

/** What a route answers with, and more than its schema. */
export const answering = <
  Answer,
  More extends Omit<ResponseSpec, 'schema' | 'answer'> & { otherStatuses?: object },
>(
  { schema }: { readonly schema: JsonSchema; readonly answer: Answer },
  more: More,
): More & ResponseSpec<Answer> => ({ ...more, schema })

/** A JSON answer with a schema that no codec has. */
export const writtenAs = <Answer>(schema: JsonSchema): ResponseSpec<Answer> => ({ schema })

/** What every route declares; its kind adds authorisation, headers and errors. */
export interface RouteSpec<Body = unknown, Query = unknown, Answer = unknown> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** In the router's form, `/v2/:entity/:project/call/start`. */
  readonly path: string
  /** One sentence for the API description. */
  readonly summary: string
  /**
   * Errors in the format of chat completions instead of the service's own, with `openai` also with its status for what is
   * not valid, 400; or as Anthropic's API; or with `errors` as well, as in GraphQL; or as a `google.rpc.Status` in the
   * encoding of the request.
   */
  readonly errorFormat?: 'chat' | 'openai' | 'anthropic' | 'graphql' | 'otlp'
  /** The JSON body; absent if the route takes none or reads the stream itself. */
  readonly body?: Codec<Body>
  /** The parts of the multipart form that the route reads from the stream. */
  readonly form?: JsonSchema
  /** The route reads the stream as it is. */
  readonly bytes?: true
  /**
   * The handler gets the JSON undecoded, as `ParsedJson`, and decodes `body` element by element, so that an invalid
   * element does not refuse its neighbours.
   */
  readonly lenientBatch?: true
  readonly query?: Codec<Query>
  /** API keys of training workers may be used. */
  readonly forWorkers?: true
  /** Request headers beyond those of its kind. */
  readonly requestHeaders?: readonly RequestHeader[]
  /** Failures in addition to those of its kind, its authorisation, and its body or form. */
  readonly errors?: readonly FailureKind[]
  /** The response with status 200. */
  readonly response: ResponseSpec<Answer> & {
    /** Successful responses with other statuses. */
    readonly otherStatuses?: Readonly<Record<number, ResponseSpec<Answer> & { readonly says: string }>>
  }
}

/** A route of any kind, as it is served and documented. */
export interface AnyRoute extends RouteSpec {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the type is tied to the handler by the route's kind
  readonly body?: Codec<any>
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the type is tied to the handler by the route's kind
  readonly query?: Codec<any>
  /** Open routes need no authentication. */
  readonly access?: 'open'
  readonly requestHeaders: readonly RequestHeader[]
  /** If absent, all failures are documented. */
  readonly errors?: readonly FailureKind[]
  readonly responseHeaders: readonly ResponseHeader[]
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the type is tied to the handler by the route's kind
  readonly handle: (request: RouteRequest<any, any>) => Promise<RouteResponse>
}
