import type { Instant } from '../../kernel/codec/instant.js'
import type { EventStore, Position } from '../../kernel/ports/event-store.js'
import { priceChange, type PriceChange, type TokenCosts } from './change.js'
import { priceStream } from './events.js'

/** The prices at a log position. */
export interface PricesAtPosition {
  /**
   * An owner's price for a model with the latest effective date not after `by`, or the latest of all without `by`.
   * Between two of the same date, the last published wins.
   */
  readonly latest: (owner: string, model: string, by: Instant | undefined) => TokenCosts | undefined
}

/** Prices at log positions, read from their streams lazily. */
export interface PriceHistory {
  /** The prices of several owners at a position. Positions must ascend. */
  readonly at: (owners: readonly string[], position: Position) => Promise<PricesAtPosition>
  /** Number of events read so far. */
  readonly read: () => number
}

type Published = Extract<PriceChange, { readonly kind: 'published' }>

interface OfOwner {
  /** The next revision to read. */
  next: bigint
  /** Everything before this position was read. */
  until: Position
  readonly byModel: Map<string, Map<string, Published>>
  readonly modelOf: Map<string, string>
}

/** Greater than every position. */
const END = 1n << 64n

export const priceHistory = (eventStore: Pick<EventStore, 'readStream'>): PriceHistory => {
  const known = new Map<string, OfOwner>()
  let read = 0

  /** May miss events written while it reads: use it for positions up to a known head. */
  const follow = async (owner: string, position: Position): Promise<void> => {
    const of = known.get(owner) ?? { next: 0n, until: 0n, byModel: new Map(), modelOf: new Map() }
    known.set(owner, of)
    if (position <= of.until) return
    const stream = priceStream({ project_id: null, list: owner })
    for await (const event of eventStore.readStream(stream, { from: of.next })) {
      read += 1
      of.until = event.position
      if (position <= event.position) return
      of.next = event.revision + 1n
      const change = priceChange(event)
      if (change !== undefined) apply(of, change)
    }
    of.until = END
  }

  return {
    at: async (owners, position) => {
      for (const owner of owners) await follow(owner, position)
      return {
        latest: (owner, model, by) => latestOf(known.get(owner)?.byModel.get(model)?.values() ?? [], by),
      }
    },
    read: () => read,
  }
}

const apply = ({ byModel, modelOf }: OfOwner, change: PriceChange): void => {
  const before = modelOf.get(change.id)
  if (before !== undefined) byModel.get(before)?.delete(change.id)
  if (change.kind === 'withdrawn') return
  const ofModel = byModel.get(change.model) ?? new Map<string, Published>()
  byModel.set(change.model, ofModel.set(change.id, change))
  modelOf.set(change.id, change.model)
}

/** `prices` are in the order in which they were published. */
const latestOf = (prices: Iterable<Published>, by: Instant | undefined): TokenCosts | undefined => {
  let best: Published | undefined
  for (const price of prices)
    if ((by === undefined || price.from <= by) && (best === undefined || price.from >= best.from))
      best = price
  return best?.costs
}
