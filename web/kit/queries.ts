import {
  QueryClient,
  type InvalidateOptions,
  type InvalidateQueryFilters,
  type Query,
} from '@tanstack/react-query'

/**
 * Invalidating reads a query again whose first read is in flight. The library lets that read finish, although it may
 * have been answered before the write that invalidated it.
 */
export class Queries extends QueryClient {
  override async invalidateQueries(filters: InvalidateQueryFilters = {}, options: InvalidateOptions = {}) {
    const isFirstRead = ({ state }: Query) => state.data === undefined && state.fetchStatus === 'fetching'
    const firstReads = new Set(this.getQueryCache().findAll(filters).filter(isFirstRead))
    await super.invalidateQueries(filters, options)
    if (firstReads.size > 0)
      await super.invalidateQueries({ predicate: (query) => firstReads.has(query) }, options)
  }
}
