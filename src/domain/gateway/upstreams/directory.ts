import { withCacheCosts } from '../../prices/cache-costs.js'
import type { ServedModel, UpstreamContent } from './content.js'
import type { UpstreamEvent } from './events.js'

export interface Upstream {
  readonly id: string
  /** Null for the operator's, which every team may use. */
  readonly team: string | null
  readonly content: UpstreamContent
  /** From the operator's file: its address is trusted, and it cannot be changed through the API. */
  readonly isConfigured?: true
}

/** All upstreams by id. */
export type Upstreams = ReadonlyMap<string, Upstream>

export const noUpstreams: Upstreams = new Map()

/** Mutates the upstreams. */
export const evolve = (
  upstreams: Map<string, Upstream>,
  { type, data }: UpstreamEvent,
): Map<string, Upstream> => {
  switch (type) {
    case 'UpstreamCreated':
    case 'UpstreamChanged': {
      const { id, team, ...rest } = data
      const content = { ...rest, models: rest.models.map(withWholePrice) }
      return upstreams.set(id, { id, team, content })
    }
    case 'UpstreamDeleted':
      upstreams.delete(data.id)
      return upstreams
    default:
      // A newer release may have written an event type that this one does not know.
      return upstreams
  }
}

const withWholePrice = (model: ServedModel): ServedModel =>
  model.price === null ? model : { ...model, price: withCacheCosts(model.price) }
