import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { useAddress, usePlace } from '../kit/place.js'
import { rangeOf } from '../kit/range.js'
import { queryOf } from './filter.js'

export type Summary = Schemas['CallsSummary']

interface Question {
  readonly fields?: readonly string[]
  readonly limit?: number
  readonly isEnabled: boolean
}

/** The question of the list in the address. The end of a relative range stays where it was when it was asked. */
export const useListQuestion = () => {
  const { projectId } = usePlace()
  const [{ filter = '', q = '', range = '', roots = '1' }] = useAddress()
  return useMemo(() => {
    const now = Date.now()
    return {
      key: [projectId, filter, q, range, roots],
      isRoots: roots === '1',
      body: {
        project_id: projectId,
        filter: roots === '1' ? { trace_roots_only: true } : null,
        query: queryOf({ filter, q, range }, now),
      },
      span: { ...rangeOf(range, now), now },
    }
  }, [projectId, filter, q, range, roots])
}

/** What was not looked at for this time is asked for again. */
const OLD_MS = 30 * 60_000
export const whenOld = ({ state }: { readonly state: { readonly dataUpdatedAt: number } }) =>
  Date.now() - state.dataUpdatedAt > OLD_MS && 'always'

/** How many calls the list has, over time and by the values of fields. */
export const useSummary = ({ fields = [], limit = 8, isEnabled }: Question) => {
  const { key, body, span } = useListQuestion()
  return useQuery({
    queryKey: ['summary', ...key, fields.join(), limit],
    queryFn: ({ signal }) =>
      dataOf(
        api.POST('/api/pages/calls/summary', {
          body: {
            ...{ ...body, fields: [...fields], limit },
            ...(span.from === undefined
              ? {}
              : { start: span.from, end: span.to ?? new Date(span.now).toISOString() }),
          },
          signal,
        }),
      ),
    enabled: isEnabled,
    refetchOnWindowFocus: whenOld,
    placeholderData: (before, query) => (query?.queryKey[1] === key[0] ? before : undefined),
  })
}

/** Tokens and cost of all calls of the list: of traces with all that is below them. */
export const useSums = (isEnabled: boolean) => {
  const { key, body, isRoots } = useListQuestion()
  return useQuery({
    queryKey: ['sums', ...key],
    queryFn: async ({ signal }) => {
      const answer = await dataOf(
        api.POST('/usage/query', {
          body: { ...body, usage: isRoots ? 'inclusive' : 'own', include_costs: true },
          signal,
        }),
      )
      return (answer as Schemas['UsageQueryResponse']).totals.usage
    },
    enabled: isEnabled,
    refetchOnWindowFocus: whenOld,
    retry: false,
  })
}
