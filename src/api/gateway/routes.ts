import type { AnyRoute, RouteRequest } from '../server/route.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { limitRoutes } from './limits.js'
import { modelRoutes } from './models.js'
import { testUpstream } from './test-upstream.js'
import { upstreamRoutes } from './upstreams.js'
import { int64, jsonObject } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { Codec } from '../../kernel/codec/codec.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { chat, completions } from '../../gateway/endpoints/chat.js'
import type { Endpoint } from '../../gateway/endpoints/endpoint.js'
import { embeddings, moderations, rerank } from '../../gateway/endpoints/lists.js'
import { messages } from '../../gateway/endpoints/messages.js'
import { refuseState, responses } from '../../gateway/endpoints/responses.js'
import {
  chatRequest,
  completionRequest,
  listRequest,
  messageRequest,
  responseRequest,
  tokenCountRequest,
  type ReadRequest,
} from '../../gateway/endpoints/requests.js'
import { complete, type CompletionServices } from '../../gateway/completions/complete.js'
import { countTokens } from '../../gateway/completions/count-tokens.js'

const rateHeadersOf = ({ form }: Endpoint) =>
  (['requests', 'tokens'] as const).flatMap((of) =>
    (['limit', 'remaining', 'reset'] as const).map((what) =>
      form === 'openai'
        ? (`x-ratelimit-${what}-${of}` as const)
        : (`anthropic-ratelimit-${of}-${what}` as const),
    ),
  )

interface Served {
  readonly endpoint: Endpoint
  readonly body: Codec<ReadRequest>
  readonly summary: string
  readonly errorFormat: 'chat' | 'openai' | 'anthropic'
  /** What the events of a stream are; absent for an API without streams. */
  readonly events?: string
  readonly check?: (given: JsonObject) => void
}

const FORWARDED = 'All keys of the request are forwarded to the upstream.'

const SERVED: readonly Served[] = [
  {
    endpoint: chat,
    body: chatRequest,
    summary: `Creates a chat completion. ${FORWARDED}`,
    errorFormat: 'chat',
    events: 'one event per chunk, then `[DONE]`',
  },
  {
    endpoint: responses,
    body: responseRequest,
    summary: `Creates a response of OpenAI's Responses API, which is not kept. ${FORWARDED}`,
    errorFormat: 'openai',
    events: 'the events of the Responses API',
    check: refuseState,
  },
  {
    endpoint: messages,
    body: messageRequest,
    summary: `Creates a message of Anthropic's Messages API. ${FORWARDED}`,
    errorFormat: 'anthropic',
    events: 'the events of the Messages API',
  },
  {
    endpoint: completions,
    body: completionRequest,
    summary: `Completes texts. ${FORWARDED}`,
    errorFormat: 'openai',
    events: 'one event per chunk, then `[DONE]`',
  },
  {
    endpoint: embeddings,
    body: listRequest,
    summary: `Creates embeddings. The record has the sizes of the vectors. ${FORWARDED}`,
    errorFormat: 'openai',
  },
  {
    endpoint: moderations,
    body: listRequest,
    summary: `Classifies texts. ${FORWARDED}`,
    errorFormat: 'openai',
  },
  {
    endpoint: rerank,
    body: listRequest,
    summary: `Orders documents by their relevance for a query. ${FORWARDED}`,
    errorFormat: 'openai',
  },
]

/** A request to a model, whole or streamed, recorded as a call. */
const completionRoute =
  (services: CompletionServices) =>
  ({ endpoint, body, summary, errorFormat, events, check }: Served): AnyRoute => ({
    method: 'post',
    path: `/v1/${endpoint.path}`,
    summary,
    errorFormat,
    body,
    requestHeaders: [
      'Vendor-Project',
      'OpenAI-Project',
      'Tallytree-Parent-Call',
      'Tallytree-Trace',
      'traceparent',
      'Tallytree-Record',
      'Tallytree-Cache',
      ...(endpoint.form === 'anthropic' ? (['anthropic-version', 'anthropic-beta'] as const) : []),
    ],
    response: {
      schema: jsonObject.schema,
      ...(events !== undefined && {
        alternatives: { 'text/event-stream': { type: 'string', description: `With \`stream\`: ${events}.` } },
      }),
    },
    responseHeaders: [
      'Tallytree-Position',
      'Tallytree-Call-Id',
      'Tallytree-Cost',
      'Tallytree-Cache',
      ...rateHeadersOf(endpoint),
    ],
    handle: async ({ body: read, stream, ...asked }: RouteRequest<ReadRequest>) => {
      check?.(read.given)
      return complete(services, { ...asked, request: { endpoint, ...read }, url: stream.url ?? '' })
    },
  })

/** `POST /v1/messages/count_tokens`. */
const tokenCountRoute = (services: CompletionServices): AnyRoute => ({
  method: 'post',
  path: '/v1/messages/count_tokens',
  summary:
    'Counts the tokens of a message, or estimates them where no upstream does. Free, and not recorded.',
  errorFormat: 'anthropic',
  body: tokenCountRequest,
  requestHeaders: ['Vendor-Project', 'OpenAI-Project'],
  response: open('TokenCount', { required: { input_tokens: int64 } }),
  responseHeaders: [],
  handle: async ({ body, stream, ...asked }: RouteRequest<ReadRequest>) => ({
    body: await countTokens(services, { ...asked, ...body, url: stream.url ?? '' }),
  }),
})

export const gatewayRoutes = (services: GatewayServices): readonly AnyRoute[] => [
  ...SERVED.map(completionRoute(services)),
  tokenCountRoute(services),
  ...modelRoutes(services),
  testUpstream(services),
  ...upstreamRoutes(services),
  ...limitRoutes(services),
]
