import type { Principal } from '../../application/principal.js'
import { modelsOf, targetsOf } from '../../domain/gateway/upstreams/offered.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { noSuchModel, teamsOf } from '../../gateway/models.js'
import { trainedModels, trainedTargets, type OwnedModel } from '../../gateway/training/trained-targets.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { boolean, int64, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { anyKey } from '../server/authorization.js'
import { asksAnthropic } from '../server/respond.js'
import { readDirectory } from '../server/route-kinds.js'
import { writtenAs, type AnyRoute } from '../server/route.js'

const model = open('Model', {
  required: { id: string, object: oneOf('model'), created: int64, owned_by: string, root: string },
})
const list = open('ModelList', { required: { object: oneOf('list'), data: arrayOf(model) } })

const anthropicModel = open('AnthropicModel', {
  required: { type: oneOf('model'), id: string, display_name: string, created_at: instant },
})
const anthropicList = open('AnthropicModelList', {
  required: {
    data: arrayOf(anthropicModel),
    has_more: boolean,
    first_id: nullable(string),
    last_id: nullable(string),
  },
})

const shown = ({ id, created, owner }: OwnedModel) =>
  ({ id, object: 'model', created, owned_by: owner, root: id }) as const

const shownToAnthropic = ({ id, created }: OwnedModel) =>
  ({ type: 'model', id, display_name: id, created_at: instantOf(new Date(created * 1000)) }) as const

const offeredModel = (id: string): OwnedModel => ({ id, created: 0, owner: 'system' })

const askingOf = (
  { access, gateway }: Pick<GatewayServices, 'access' | 'gateway'>,
  principal: Principal,
) => ({
  canSee: (project: string) => access.canAccessProject(principal, project),
  offered: (name: string, team: string) => targetsOf(gateway.upstreams.all(), teamsOf(principal), name, team),
})

const OTHER_FORM = "With anthropic-version, in the form of Anthropic's API."

/** The models that a key may use. */
export const modelRoutes = (
  services: Pick<GatewayServices, 'gateway' | 'training' | 'access' | keyof Ports>,
): readonly AnyRoute[] => [
  readDirectory({
    method: 'get',
    path: '/v1/models',
    summary: `Lists the models available to the API key, by id. ${OTHER_FORM}`,
    errorFormat: 'chat',
    requestHeaders: ['anthropic-version'],
    response: writtenAs<typeof list.answer | typeof anthropicList.answer>({
      anyOf: [list.schema, anthropicList.schema],
    }),
    authorization: anyKey,
    handle: ({ principal, headers }) => {
      const offered = modelsOf(services.gateway.upstreams.all(), teamsOf(principal)).map(offeredModel)
      const trained = trainedModels(services, askingOf(services, principal))
      const byId = new Map([...trained, ...offered].map((one) => [one.id, one]))
      const ids = [...byId.keys()].sort()
      const models = ids.map((id) => byId.get(id)!)
      return {
        body: asksAnthropic(headers)
          ? {
              data: models.map(shownToAnthropic),
              has_more: false,
              first_id: ids[0] ?? null,
              last_id: ids.at(-1) ?? null,
            }
          : { object: 'list' as const, data: models.map(shown) },
      }
    },
  }),
  readDirectory({
    method: 'get',
    path: '/v1/models/*id',
    summary: `Reads a model. Slashes in its id may be percent-encoded. ${OTHER_FORM}`,
    errorFormat: 'chat',
    errors: ['not-found'],
    requestHeaders: ['anthropic-version'],
    response: writtenAs<typeof model.answer | typeof anthropicModel.answer>({
      anyOf: [model.schema, anthropicModel.schema],
    }),
    authorization: anyKey,
    handle: async ({ principal, headers, params }) => {
      const name = params['id']!
      const named = targetsOf(services.gateway.upstreams.all(), teamsOf(principal), name)
      const [target] =
        named.length > 0 ? named : await trainedTargets(services, name, askingOf(services, principal))
      if (target === undefined) throw noSuchModel()
      const { id } = target.model
      const trained = trainedModels(services, askingOf(services, principal)).find((one) => one.id === id)
      return { body: (asksAnthropic(headers) ? shownToAnthropic : shown)(trained ?? offeredModel(id)) }
    },
  }),
]
