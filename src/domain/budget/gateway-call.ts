import { instant, type Instant } from '../codec/instant.js'
import { entityOf, projectId } from '../ids.js'
import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import type { RecordedEvent } from '../ports/event-store.js'
import { withCacheCosts } from '../price/cache-costs.js'
import { amountFrom, decimalText, moneyText, type Amount } from '../price/decimal.js'
import { figureOf } from '../call/usage.js'
import { modelPrice, type ModelPrice } from '../upstream/content.js'
import type { ChargedTokens } from './charge.js'

/** A completion of the gateway that began, as far as money goes. */
export interface BegunCall {
  /** Of the call: it is known by nothing else here. */
  readonly stream: string
  readonly project: string
  readonly id: string
  readonly keyId: string
  /** When it was let through: it counts in the periods of this instant. */
  readonly admittedAt: Instant
  /** The process that asks the upstream. */
  readonly instance: string
  /** When that process has given up at the latest. */
  readonly deadlineAt: Instant
  readonly reserved: Amount
  /** The dearest of all upstreams that may serve it. */
  readonly price: ModelPrice | null
}

/** What a completion came to; what is unknown costs what was reserved for it. */
export type Outcome =
  | {
      readonly kind: 'used'
      readonly tokens: ChargedTokens
      /** Of the upstream that served; undefined where the end does not name it, as those of earlier releases. */
      readonly price?: ModelPrice | null
    }
  /** No upstream took it up. */
  | { readonly kind: 'not-owed' }
  | { readonly kind: 'unknown' }

/** What the gateway keeps of a completion with the start of its call, under `attributes.tallytree`. */
export const termsOf = (call: BegunCall): JsonObject => ({
  kind: 'completion',
  instance: call.instance,
  key_id: call.keyId,
  admitted_at: call.admittedAt,
  deadline_at: call.deadlineAt,
  reserved: decimalText(call.reserved),
  price: call.price,
})

/** Only what the gateway wrote itself counts: clients may write calls that look alike. */
const isOfGateway = ({ metadata }: RecordedEvent): boolean => metadata['part'] === 'inference'

/** The completion that a `CallStarted` begins; undefined for any other call. */
export const begunIn = (event: RecordedEvent): BegunCall | undefined => {
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

/** How an event ends a completion that is open; undefined where it does not. */
export const outcomeIn = (event: RecordedEvent): Outcome | undefined => {
  if (event.type === 'CallDeleted') return { kind: 'unknown' }
  if (event.type !== 'CallEnded') return undefined
  if (!isOfGateway(event)) return { kind: 'unknown' }
  return outcomeOf(field(event.data['usage'], 'models'), field(event.data['summary'], 'tallytree'))
}

/** By the models of a call's normalised usage, and what the gateway says of it. */
export const outcomeOf = (models: Json | undefined, said: Json | undefined): Outcome => {
  if (!Array.isArray(models) || models.length === 0)
    return field(said, 'owed') === false ? { kind: 'not-owed' } : { kind: 'unknown' }
  const sum = (...figures: readonly string[]): number =>
    (models as readonly Json[]).reduce<number>(
      (total, model) => figures.reduce((of, figure) => of + figureOf(field(model, figure)), total),
      0,
    )
  const price = priceIn(field(said, 'price'))
  return {
    kind: 'used',
    tokens: {
      prompt: sum('prompt_tokens', 'input_tokens'),
      completion: sum('completion_tokens', 'output_tokens'),
      cacheRead: sum('cache_read_input_tokens'),
      cacheCreation: sum('cache_creation_input_tokens'),
    },
    ...(price === undefined ? {} : { price }),
  }
}

/** Undefined for anything that is no price; null says that the model has none. */
const priceIn = (value: Json | undefined): ModelPrice | null | undefined => {
  if (value === null) return null
  return modelPrice.is(value) ? withCacheCosts(value) : undefined
}

const field = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) ? value[key] : undefined

export const teamOf = ({ project }: Pick<BegunCall, 'project'>): string => entityOf(project)
