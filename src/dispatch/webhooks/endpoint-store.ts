import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { Endpoint } from './endpoint.js'

/** The endpoints of all webhooks that are not deleted. */
export interface EndpointStore {
  readonly get: (id: string) => Endpoint | undefined
  readonly all: () => Iterable<Endpoint>
  /** Stores what the function returns; undefined removes the endpoint. */
  readonly update: (id: string, change: (before: Endpoint | undefined) => Endpoint | undefined) => void
}

const KIND = 'webhook'

export const openEndpointStore = (state: Pick<DispatcherState, 'all' | 'put' | 'remove'>): EndpointStore => {
  const endpoints = new Map<string, Endpoint>()
  for (const [id, endpoint] of state.all(KIND)) endpoints.set(id, endpoint as Endpoint)

  return {
    get: (id) => endpoints.get(id),
    all: () => endpoints.values(),
    update: (id, change) => {
      const before = endpoints.get(id)
      const after = change(before)
      if (after === before) return
      if (after === undefined) {
        endpoints.delete(id)
        state.remove(KIND, id)
      } else {
        endpoints.set(id, after)
        state.put(KIND, id, after)
      }
    },
  }
}
