import type { Services } from '../../application/services.js'
import { sourcesFrom } from '../../application/calls/ref-sources.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { callIdPages, callIds, type CallId } from '../../projections/calls/pages.js'
import type { CallSelection } from '../../projections/calls/select.js'
import type { Books } from '../../projections/prices/cached-books.js'
import { positionsAsOf } from '../server/read-conditions.js'
import type { RouteRequest } from '../server/route.js'
import type { ProjectRequest } from '../server/route-kinds.js'
import { requireBoundedFilter } from '../../application/calls/filter.js'
import { sortingOf, type CallsQuery } from './query-codecs.js'
import { withReferencedFields } from './referenced-fields.js'
import { readWithUsage, requireLimit, usedUsage } from './usage-fields.js'

type Selecting = Pick<
  CallsQuery,
  'project_id' | 'filter' | 'query' | 'sort_by' | 'limit' | 'offset' | 'expand_columns'
>

interface MatchingIds {
  /** Whether the filter or the order uses costs, so that prices must be readable. */
  readonly hasCosts: boolean
  readonly pagesAt: (position: Position) => AsyncGenerator<readonly CallId[]>
}

/** The ids of the calls that a query selects, in order. */
export const matchingIds = (
  { books, ...services }: Pick<Services, 'access' | 'reading'> & { readonly books: Books },
  request: ProjectRequest & Pick<RouteRequest<Selecting>, 'body' | 'principal'>,
): MatchingIds => {
  const { body, reader } = request
  const { project_id: projectId, filter, limit, offset } = body
  requireBoundedFilter(filter)
  const sortBy = sortingOf(body.sort_by)
  const operation = body.query?.$expr ?? null
  const usage = usedUsage(operation, sortBy)
  if (usage.isUsed) requireLimit(limit)
  async function* pagesAt(position: Position): AsyncGenerator<readonly CallId[]> {
    const sources = () => sourcesFrom(reader, positionsAsOf(services, request))
    const query = { selection: { projectId, filter, operation, position }, sortBy }
    const { selection, ...order } = await withReferencedFields(reader, sources, query, body.expand_columns)
    const page = { ...order, limit, offset }
    if (usage.isUsed) {
      const idsOf = (selected: CallSelection) => callIds(reader)({ ...selected, ...page })
      const ids = await readWithUsage(reader, books, selection, usage, idsOf)
      if (ids.length > 0) yield ids
    } else yield* callIdPages(reader, { ...selection, ...page })
  }
  return { hasCosts: usage.hasCosts, pagesAt }
}
