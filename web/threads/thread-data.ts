import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../kit/api.js'
import { opName } from '../kit/format.js'
import { usePlace } from '../kit/place.js'
import type { CallHead } from '../traces/call-detail.js'

export type Thread = Schemas['Thread']
export type Turn = Schemas['ThreadTurn']

const THREADS = 50
const TURNS = 50

interface From {
  readonly offset: number
  /** Of the first page, so that no row is shown twice. */
  readonly position?: string
}

const FIRST: From = { offset: 0 }

const asOf = ({ position }: From) => (position === undefined ? {} : { 'Tallytree-As-Of': position })

const paged =
  (size: number) =>
  ({ has_more, position }: { has_more: boolean; position: string }, pages: readonly unknown[]) =>
    has_more ? { offset: pages.length * size, position } : undefined

const positionOf = ({ headers }: Response): string => headers.get('tallytree-position') ?? ''

export const useThreads = (contains: string) => {
  const { projectId } = usePlace()
  return useInfiniteQuery({
    queryKey: ['threads', projectId, contains],
    queryFn: async ({ pageParam, signal }) => {
      const body = { project_id: projectId, contains, limit: THREADS, offset: pageParam.offset }
      const { data, response } = await api.POST('/api/pages/threads', {
        body,
        headers: asOf(pageParam),
        signal,
      })
      return { ...data!, position: positionOf(response) }
    },
    initialPageParam: FIRST,
    getNextPageParam: paged(THREADS),
    placeholderData: keepPreviousData,
  })
}

export const useThread = (threadId: string) => {
  const { projectId } = usePlace()
  return useInfiniteQuery({
    queryKey: ['thread', projectId, threadId],
    queryFn: async ({ pageParam, signal }) => {
      const body = { project_id: projectId, thread_id: threadId, limit: TURNS, offset: pageParam.offset }
      const { data, response } = await api.POST('/api/pages/thread', {
        body,
        headers: asOf(pageParam),
        signal,
      })
      return { ...data!, position: positionOf(response) }
    },
    initialPageParam: FIRST,
    getNextPageParam: paged(TURNS),
  })
}

const turnName = ({ display_name, op_name }: Turn): string => display_name ?? opName(op_name)

const feedbackOn = ({ feedback }: Turn): number =>
  Object.values(feedback).reduce((sum, count) => sum + count, 0)

export const headOf = (turn: Turn): CallHead => ({
  id: turn.id,
  traceId: turn.trace_id,
  name: turnName(turn),
  status: turn.status,
  startedUs: turn.started_us,
  duration: turn.duration_us,
  models: turn.models.join(', '),
  usage: turn,
  feedback: feedbackOn(turn),
})
