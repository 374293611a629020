import type { AnyRoute, RouteRequest } from '../server/route.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { limitRoutes } from './limits.js'
import { testUpstream } from './test-upstream.js'
import { upstreamRoutes } from './upstreams.js'
import { modelsOf, targetsOf } from '../../domain/gateway/upstreams/offered.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { int64, oneOf, string, jsonObject } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { anyKey } from '../server/authorization.js'
import type { Principal } from '../../application/principal.js'
import { trainedModels, trainedTargets, type OwnedModel } from '../../gateway/training/trained-targets.js'
import { noSuchModel, teamsOf } from '../../gateway/models.js'
import { readDirectory } from '../server/route-kinds.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { completionRequest, type CompletionRequest } from '../../gateway/answer/request.js'
import { complete } from '../../gateway/completions/complete.js'

const RATE_HEADERS = (['requests', 'tokens'] as const).flatMap((of) =>
  (['limit', 'remaining', 'reset'] as const).map((what) => `x-ratelimit-${what}-${of}` as const),
)

/** `POST /v1/chat/completions`: one completion, whole or streamed, recorded as a call. */
const completionRoutes = (
  services: Pick<GatewayServices, keyof Ports | 'access' | 'reading' | 'vendor' | 'gateway' | 'training'>,
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
    responseHeaders: ['Tallytree-Position', 'Tallytree-Call-Id', 'Tallytree-Cost', ...RATE_HEADERS],
    handle: (asked: RouteRequest<CompletionRequest>) => complete(services, asked),
  },
]

const model = open('Model', {
  required: { id: string, object: oneOf('model'), created: int64, owned_by: string, root: string },
})

const list = open('ModelList', { required: { object: oneOf('list'), data: arrayOf(model) } })

const shown = ({ id, created, owner }: OwnedModel) =>
  ({ id, object: 'model', created, owned_by: owner, root: id }) as const

const offeredModel = (id: string): OwnedModel => ({ id, created: 0, owner: 'system' })

const askingOf = (
  { access, gateway }: Pick<GatewayServices, 'access' | 'gateway'>,
  principal: Principal,
) => ({
  canSee: (team: string) => access.canAccessTeam(principal, team),
  offered: (name: string, team: string) => targetsOf(gateway.upstreams.all(), teamsOf(principal), name, team),
})

/** The models that a key may use. */
const modelRoutes = (
  services: Pick<GatewayServices, 'gateway' | 'training' | 'access' | keyof Ports>,
): readonly AnyRoute[] => [
  readDirectory({
    method: 'get',
    path: '/v1/models',
    summary: 'Lists the models available to the API key, by id.',
    errorFormat: 'chat',
    response: list,
    authorization: anyKey,
    handle: ({ principal }) => {
      const offered = modelsOf(services.gateway.upstreams.all(), teamsOf(principal)).map(offeredModel)
      const trained = trainedModels(services, askingOf(services, principal))
      const byId = new Map([...trained, ...offered].map((one) => [one.id, one]))
      const data = [...byId.keys()].sort().map((id) => shown(byId.get(id)!))
      return { body: { object: 'list' as const, data } }
    },
  }),
  readDirectory({
    method: 'get',
    path: '/v1/models/*id',
    summary: 'Reads a model. Slashes in its id may be percent-encoded.',
    errorFormat: 'chat',
    errors: ['not-found'],
    response: model,
    authorization: anyKey,
    handle: async ({ principal, params }) => {
      const name = params['id']!
      const named = targetsOf(services.gateway.upstreams.all(), teamsOf(principal), name)
      const [target] =
        named.length > 0 ? named : await trainedTargets(services, name, askingOf(services, principal))
      if (target === undefined) throw noSuchModel()
      const { id } = target.model
      const trained = trainedModels(services, askingOf(services, principal)).find((one) => one.id === id)
      return { body: shown(trained ?? offeredModel(id)) }
    },
  }),
]

export const gatewayRoutes = (services: GatewayServices): readonly AnyRoute[] => [
  ...completionRoutes(services),
  ...modelRoutes(services),
  testUpstream(services),
  ...upstreamRoutes(services),
  ...limitRoutes(services),
]
