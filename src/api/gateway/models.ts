import { modelsOf, targetsOf } from '../../domain/gateway/upstreams/offered.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { integerBetween, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { anyKey } from '../server/authorization.js'
import { noSuchModel, teamsOf } from '../../gateway/models.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory } from '../server/route-kinds.js'
import type { GatewayServices } from '../../gateway/gateway.js'

const model = open('Model', {
  required: {
    id: string,
    object: oneOf('model'),
    created: integerBetween(0, 0),
    owned_by: oneOf('system'),
    root: string,
  },
})

const list = open('ModelList', { required: { object: oneOf('list'), data: arrayOf(model) } })

const shown = (id: string) => ({ id, object: 'model', created: 0, owned_by: 'system', root: id }) as const

/** The models that a key may use. */
export const modelRoutes = ({ gateway }: Pick<GatewayServices, 'gateway'>): readonly AnyRoute[] => [
  readDirectory({
    method: 'get',
    path: '/v1/models',
    summary: 'Lists the models available to the API key, by id.',
    errorFormat: 'chat',
    response: list,
    authorization: anyKey,
    handle: ({ principal }) => ({
      body: { object: 'list', data: modelsOf(gateway.upstreams.now(), teamsOf(principal)).map(shown) },
    }),
  }),
  readDirectory({
    method: 'get',
    path: '/v1/models/*id',
    summary: 'Reads a model. Slashes in its id may be percent-encoded.',
    errorFormat: 'chat',
    errors: ['not-found'],
    response: model,
    authorization: anyKey,
    handle: ({ principal, params }) => {
      const [target] = targetsOf(gateway.upstreams.now(), teamsOf(principal), params['id']!)
      if (target === undefined) throw noSuchModel()
      return { body: shown(target.model.id) }
    },
  }),
]
