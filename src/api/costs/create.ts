import { instantOf } from '../../domain/codec/instant.js'
import { execute } from '../../runtime/execute.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { OfferedPrice } from '../../domain/price/commands.js'
import { priceDecider } from '../../domain/price/decider.js'
import { MAX_MODEL_BYTES, modelName, priceStream } from '../../domain/price/events.js'
import { exactCosts } from '../../domain/price/offered.js'
import { recognised, type PriceState } from '../../domain/price/state.js'
import { refuseIf } from '../auth/rights.js'
import { writesOnce } from '../conduct.js'
import { invalidField } from '../failure.js'
import { requireReading, requireWriting, type Teams } from '../projects/access.js'
import type { Reading } from '../reading.js'
import { route, type AnyRoute } from '../route.js'
import { idFor } from '../tracing/generated-id.js'
import { costCreate, costCreated } from './codecs.js'

export interface CostWrites {
  readonly ports: Pick<Ports, 'eventStore' | 'ids' | 'sha256' | 'clock'>
  readonly teams: Teams
  readonly reading: Reading
  /** Delays a write while the read side is too far behind. */
  readonly pace: () => Promise<void>
}

const MOST = 1000

/** `/cost/create`: prices of a project, by model. */
export const createRoute = ({ ports, teams, reading, pace }: CostWrites): AnyRoute =>
  route({
    method: 'post',
    path: '/cost/create',
    summary: 'Say what tokens of models cost in a project; a price that is known already keeps its id.',
    body: costCreate,
    ...writesOnce,
    takes: ['Idempotency-Key'],
    answer: { schema: costCreated },
    handle: async (asked) => {
      const { body, principal, cause } = asked
      const { project_id } = body
      requireReading(teams, principal, project_id)
      const offered = Object.entries(body.costs)
      requireModels(offered.map(([model]) => model))
      await requireWriting(teams, principal, project_id, cause)
      await pace()

      const now = instantOf(ports.clock.now())
      const prices = offered.map(([llm_id, { effective_date, ...costs }], place) => {
        const price: OfferedPrice = { llm_id, effective_date, ...exactCosts(costs) }
        return { id: idFor(ports, asked, place), price }
      })
      const owner = { project_id, list: null }
      const command = { type: 'PublishPrices', owner, prices, userId: principal.userId, now } as const
      const { state, refusals, position } = await execute(ports)(
        priceDecider,
        priceStream(owner),
        [command],
        cause,
      )
      refuseIf(refusals.get(0))
      const ids = prices.map(({ id, price }) => [price.llm_id, standingId(state, id, price, now)])
      return { body: { ids }, position: reading.acknowledged(project_id, position) }
    },
  })

/** The price's own id, or that of the one that said the same already. */
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
