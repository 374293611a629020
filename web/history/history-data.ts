import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import type { paths } from '../schema.d.ts'
import { useAddress, usePlace } from '../kit/place.js'
import { CHANGES } from './event-types.js'

/** An event whose row in the log is damaged has the reason in place of data and metadata. */
export type HistoryEvent = Pick<
  Schemas['RecordedEvent'],
  'id' | 'type' | 'stream' | 'revision' | 'position'
> &
  Partial<Omit<Schemas['RecordedEvent'], 'metadata'>> & {
    readonly metadata?: { readonly actor?: string }
    readonly unreadable?: string
  }

interface Page {
  readonly events: readonly HistoryEvent[]
  /** Where the next page begins; undefined at the start of the log. */
  readonly next: string | undefined
  /** Whether the search ended at its bound, before it had found a whole page. */
  readonly isUnfinished: boolean
}

const PAGE = 50
const NEWEST_FIRST = { order: 'desc' } as const

type DescribedQuery = NonNullable<paths['/api/events']['get']['parameters']['query']>

/** A position may have more digits than a number holds. */
type EventsQuery = Omit<DescribedQuery, 'before'> & { readonly before?: string }

const linesOf = async (query: EventsQuery, signal: AbortSignal): Promise<string> => {
  const { data } = await api.GET('/api/events', {
    params: { query: query as unknown as DescribedQuery },
    parseAs: 'text',
    signal,
  })
  // Of an answer without a line, there is no text.
  return data ?? ''
}

const pageIn = (lines: string): Page => {
  const all = lines
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as HistoryEvent & { readonly more?: boolean })
  const isUnfinished = all.at(-1)?.more === true
  const events = isUnfinished ? all.slice(0, -1) : all
  const next = isUnfinished || events.length === PAGE ? all.at(-1)?.position : undefined
  return { events, next, isUnfinished }
}

/** The events of the project that the address asks for, newest first. */
export const useHistory = () => {
  const { projectId } = usePlace()
  const [{ types = '', actor = '', object = '' }] = useAddress()
  return useInfiniteQuery({
    queryKey: ['history', projectId, types, actor, object],
    queryFn: async ({ pageParam, signal }) => {
      const query = {
        ...NEWEST_FIRST,
        project_id: projectId,
        limit: PAGE,
        ...(types === 'all' || (types === '' && object !== '')
          ? {}
          : { types: types === '' ? CHANGES.join() : types }),
        ...(actor === '' ? {} : { actor }),
        ...(object === '' ? {} : { object }),
        ...(pageParam === '' ? {} : { before: pageParam }),
      }
      const lines = await linesOf(query, signal)
      return pageIn(lines)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}

/** The line of one event, with its index and its salt; undefined if the project has no event there. */
export const useEvent = (position: string) => {
  const { projectId } = usePlace()
  const [{ object = '' }] = useAddress()
  return useQuery({
    queryKey: ['event', projectId, object, position],
    queryFn: async ({ signal }) => {
      const query = {
        ...NEWEST_FIRST,
        project_id: projectId,
        before: String(BigInt(position) + 1n),
        limit: 1,
        seal: 'true' as const,
        ...(object === '' ? {} : { object }),
      }
      const lines = await linesOf(query, signal)
      const [line = ''] = lines.split('\n')
      const event = line === '' ? undefined : (JSON.parse(line) as HistoryEvent)
      return event?.position === position ? { line, event } : null
    },
    // The tree covers an event two seconds later.
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && data !== null && data.event.index === undefined ? 3000 : false,
  })
}

export const useSealing = () =>
  useQuery({
    queryKey: ['sealing'],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/log/checkpoints', { params: { query: { limit: 1 } }, signal })),
  })
