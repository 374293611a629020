import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { execute } from '../../kernel/execute.js'
import type { OfferedPrice } from '../../domain/prices/commands.js'
import { priceDecider } from '../../domain/prices/decider.js'
import { MAX_MODEL_BYTES, modelName, priceStream } from '../../domain/prices/events.js'
import { exactCosts } from '../../domain/prices/offered.js'
import { recognised, type PriceState } from '../../domain/prices/state.js'
import { inBody } from '../server/authorization.js'
import { invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { idFor } from '../server/generated-id.js'
import { costCreate, costCreated } from './codecs.js'

const MOST = 1000

export const createRoute = (
  services: Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>,
): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/cost/create',
    summary: 'Set token prices of models in a project; an existing identical price keeps its id.',
    body: costCreate,
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict'],
    response: { schema: costCreated },
    project: inBody,
    handle: (request) => {
      const { project_id, costs } = request.body
      const { userId } = request.principal
      const offered = Object.entries(costs)
      requireModels(offered.map(([model]) => model))
      const now = instantOf(services.clock.now())
      const prices = offered.map(([llm_id, { effective_date, ...costs }], place) => {
        const price: OfferedPrice = { llm_id, effective_date, ...exactCosts(costs) }
        return { id: idFor(services, request, place, price), price }
      })
      const owner = { project_id, list: null }
      const command = { type: 'PublishPrices', owner, prices, userId, now } as const
      return writing((cause) => execute(services)(priceDecider, priceStream(owner), [command], cause), {
        respond: ({ state }) => {
          const ids = prices.map(({ id, price }) => [price.llm_id, standingId(state, id, price, now)])
          return { body: { ids } }
        },
      })
    },
  })

/** The id of the price, or of an earlier identical one. */
const standingId = (
  state: PriceState,
  id: string,
  price: OfferedPrice,
  now: Parameters<typeof recognised>[2],
): string => (state.known.has(id) ? id : (recognised(state, price, now)?.id ?? id))

const requireModels = (models: readonly string[]): void => {
  if (models.length > MOST)
    throw invalidField(['costs'], 'too_long', `Dictionary should have at most ${MOST} items after validation`)
  const tooLong = models.find((model): boolean => !modelName.is(model))
  if (tooLong === undefined) return
  const rule = `String should have at most ${MAX_MODEL_BYTES} bytes`
  throw invalidField(['costs', tooLong.slice(0, 64).toWellFormed()], 'string_too_long', rule)
}
