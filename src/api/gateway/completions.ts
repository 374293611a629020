import type { Ports } from '../../kernel/ports/ports.js'
import { completionRequest, type CompletionRequest } from '../../gateway/answer/request.js'
import { complete } from '../../gateway/completions/complete.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { jsonObject } from '../../kernel/codec/leaves.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'

/** `POST /v1/chat/completions`: one completion, whole or streamed, recorded as a call. */
export const completionRoutes = (
  services: Pick<GatewayServices, keyof Ports | 'access' | 'reading' | 'vendor' | 'gateway'>,
): readonly AnyRoute[] => [
  {
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'Creates a chat completion. All keys of the request are forwarded to the upstream.',
    errorFormat: 'chat',
    body: completionRequest,
    requestHeaders: [
      'Vendor-Project',
      'OpenAI-Project',
      'Tallytree-Parent-Call',
      'Tallytree-Trace',
      'traceparent',
      'Tallytree-Record',
    ],
    response: {
      schema: jsonObject.schema,
      alternatives: {
        'text/event-stream': {
          type: 'string',
          description: 'With `stream`: one event per chunk, then `[DONE]`.',
        },
      },
    },
    responseHeaders: ['Tallytree-Position'],
    handle: (asked: RouteRequest<CompletionRequest>) => complete(services, asked),
  },
]
