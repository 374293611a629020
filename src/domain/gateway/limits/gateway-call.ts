import { isWithoutFigures } from '../../../kernel/codec/erasable.js'
import { instant, type Instant } from '../../../kernel/codec/instant.js'
import { entityOf, projectId } from '../../../kernel/ids.js'
import { isJsonObject, type Json, type JsonObject } from '../../../kernel/json/json.js'
import type { RecordedEvent } from '../../../kernel/ports/event-store.js'
import { withCacheCosts } from '../../prices/cache-costs.js'
import { forEach } from '../../prices/units.js'
import { EXTRAS } from '../../prices/variant.js'
import { amountFrom, decimalText, moneyText, type Amount } from '../../prices/decimal.js'
import { figureOf } from '../../calls/usage/figure.js'
import { serviceTierOf } from '../../calls/usage/unpriced-members.js'
import { modelPrice, type ModelPrice } from '../upstreams/content.js'
import type { CompletionUsage } from './charge.js'

/** What the ledger needs to know about a completion of the gateway. */
export interface GatewayCall {
  /** The call's stream, which identifies the completion here. */
  readonly stream: string
  readonly project: string
  readonly id: string
  readonly keyId: string
  /** When it was admitted: this decides the periods it is charged to. */
  readonly admittedAt: Instant
  /** The process that calls the upstream. */
  readonly instance: string
  /** By then that process has finished or given up. */
  readonly deadlineAt: Instant
  readonly reserved: Amount
  /** The maximum price over all upstreams that may serve it. */
  readonly price: ModelPrice | null
}

/** The result of a completion. `unknown` is charged its whole reservation. */
export type Outcome =
  | {
      readonly kind: 'used'
      readonly used: CompletionUsage
      /** The price of the upstream that served it; undefined if the end does not name it, as in earlier releases. */
      readonly price?: ModelPrice | null
    }
  /** Its figures were erased. */
  | { readonly kind: 'charged'; readonly amount: Amount }
  /** No upstream accepted it. */
  | { readonly kind: 'not-charged' }
  | { readonly kind: 'unknown' }

/** The part of a completion that is stored with the call's start, under `attributes.tallytree`. */
export const toAttributes = (call: GatewayCall): JsonObject => ({
  kind: 'completion',
  instance: call.instance,
  key_id: call.keyId,
  admitted_at: call.admittedAt,
  deadline_at: call.deadlineAt,
  reserved: decimalText(call.reserved),
  price: call.price,
})

/** Only events written by the gateway count: clients may write calls that look alike. */
const isOfGateway = ({ metadata }: RecordedEvent): boolean => metadata['part'] === 'inference'

/** The completion that a `CallStarted` begins; undefined for other calls. */
export const gatewayCallIn = (event: RecordedEvent): GatewayCall | undefined => {
  if (event.type !== 'CallStarted' || !isOfGateway(event)) return undefined
  const { project_id: project, id, attributes, started_at } = event.data
  const terms = field(attributes, 'tallytree')
  if (!isJsonObject(terms) || !projectId.is(project) || typeof id !== 'string') return undefined
  const { key_id, instance: by, admitted_at = started_at, deadline_at, reserved, price } = terms
  if (!instant.is(admitted_at) || typeof key_id !== 'string' || typeof by !== 'string') return undefined
  return {
    stream: event.stream,
    project,
    id,
    keyId: key_id,
    admittedAt: admitted_at,
    instance: by,
    deadlineAt: instant.is(deadline_at) ? deadline_at : admitted_at,
    reserved: moneyText.is(reserved) ? amountFrom(reserved) : 0n,
    price: priceIn(price) ?? null,
  }
}

/** The result that an event gives to an open completion; undefined for other events. */
export const outcomeIn = (event: RecordedEvent): Outcome | undefined => {
  if (event.type === 'CallDeleted') return { kind: 'unknown' }
  if (event.type !== 'CallEnded') return undefined
  if (!isOfGateway(event)) return { kind: 'unknown' }
  if (isWithoutFigures(event.data)) {
    const charged = field(field(event.data['summary'], 'tallytree'), 'charged')
    return moneyText.is(charged) ? { kind: 'charged', amount: amountFrom(charged) } : { kind: 'unknown' }
  }
  return outcomeOf(field(event.data['usage'], 'models'), field(event.data['summary'], 'tallytree'))
}

/** The result from the call's normalised usage and the gateway's own attributes. */
export const outcomeOf = (models: Json | undefined, own: Json | undefined): Outcome => {
  if (!Array.isArray(models) || models.length === 0)
    return field(own, 'owed') === false ? { kind: 'not-charged' } : { kind: 'unknown' }
  const sum = (...figures: readonly string[]): number =>
    (models as readonly Json[]).reduce<number>(
      (total, model) => figures.reduce((of, figure) => of + figureOf(field(model, figure)), total),
      0,
    )
  const price = priceIn(field(own, 'price'))
  const service_tier = serviceTierOf(isJsonObject(models[0]) ? models[0] : {})
  return {
    kind: 'used',
    used: {
      requests: sum('requests'),
      // Events of earlier releases keep the two names of a figure apart.
      prompt_tokens: sum('prompt_tokens', 'input_tokens'),
      completion_tokens: sum('completion_tokens', 'output_tokens'),
      cache_read_input_tokens: sum('cache_read_input_tokens'),
      cache_creation_input_tokens: sum('cache_creation_input_tokens'),
      cache_creation_1h_input_tokens: sum('cache_creation_1h_input_tokens'),
      ...forEach(EXTRAS, (extra) => sum(extra)),
      reported_cost: sum('reported_cost'),
      ...(service_tier === undefined ? {} : { service_tier }),
    },
    ...(price === undefined ? {} : { price }),
  }
}

/** Undefined for an invalid price; null means that the model has none. */
const priceIn = (value: Json | undefined): ModelPrice | null | undefined => {
  if (value === null) return null
  return modelPrice.is(value) ? withCacheCosts(value) : undefined
}

const field = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) ? value[key] : undefined

export const teamOf = ({ project }: Pick<GatewayCall, 'project'>): string => entityOf(project)
