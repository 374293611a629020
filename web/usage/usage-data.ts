import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { useAddress } from '../kit/place.js'
import { useRights } from '../kit/session.js'
import { useZone } from '../kit/settings.js'
import { unitStarts } from './calendar.js'
import { bodyOf, questionOf, type Metric, type Scope, type UsageQuestion } from './usage-address.js'

export type UsageRow = Schemas['UsageRow']
export type Figures = UsageRow['usage']

const MAX_ROWS = 100
const MAX_POINTS = 10_000

export const figureOf = (figures: Figures, metric: Metric): number | null => figures[metric]

/** JSON, since no other format is asked for. */
const usageOf = async (body: Schemas['UsageQueryRequest'], signal: AbortSignal) =>
  (await dataOf(api.POST('/usage/query', { body, signal }))) as Schemas['UsageQueryResponse']

/** The usage that the address asks for, by group and by group and time. */
export const useUsage = (scope: Scope, initialBy: string) => {
  const [search] = useAddress()
  const zone = useZone()
  const [askedAt, setAskedAt] = useState(() => Date.now())
  const question = useMemo(() => questionOf(search, initialBy, askedAt), [search, initialBy, askedAt])
  const base = useMemo(() => bodyOf(scope, question, zone), [scope, question, zone])
  const { by, unit, metric, isCompared, start, end } = question
  const isByTime = by.length === 0 && unit !== null
  const ask = (body: Partial<typeof base>) => ({ ...base, ...body })
  const key = [scope.team, scope.project, JSON.stringify(base), by.join(), metric]
  const tableBody = ask({
    group_by: isByTime ? [unit] : [...by],
    sort_by: isByTime ? null : [{ field: metric }],
    limit: isByTime ? MAX_POINTS : MAX_ROWS,
    compare: isCompared ? 'previous_period' : null,
  })
  const table = useQuery({
    queryKey: ['usage table', ...key, unit, isCompared],
    queryFn: async ({ signal }) => ({ ...(await usageOf(tableBody, signal)), question }),
    placeholderData: (before, query) =>
      query?.queryKey[1] === scope.team && query.queryKey[2] === scope.project ? before : undefined,
  })
  const chart = useQuery({
    queryKey: ['usage chart', ...key, unit],
    enabled: unit !== null,
    queryFn: async ({ signal }) => {
      const time = unit!
      const answer = await usageOf(ask({ group_by: [...by, time], limit: MAX_POINTS }), signal)
      // The zones of the browser may be of another year than those of the service.
      const answered = answer.rows.map(({ group }) => Date.parse(group[time]!) / 1000)
      const starts = [...new Set([...unitStarts(start, end, time, zone), ...answered])]
      return {
        ...answer,
        question: { ...question, unit: time },
        starts: starts.sort((one, other) => one - other),
      }
    },
    placeholderData: (before, query) =>
      query?.queryKey[1] === scope.team && query.queryKey[2] === scope.project ? before : undefined,
  })
  return { question, table, chart, tableBody, again: () => setAskedAt(Date.now()) }
}

/** The budgets of a project and its team for a unit, which their administrators may see. */
export const useBudgets = ({ team, project }: Scope, { unit, metric, conditions }: UsageQuestion) => {
  const { isTeamAdministrator } = useRights(team)
  const { data } = useQuery({
    queryKey: ['limits', team],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/teams/{team}/limits', { params: { path: { team } }, signal })),
    enabled: isTeamAdministrator,
  })
  if (metric !== 'total_cost' || conditions.length > 0) return []
  return (data?.data ?? []).flatMap(({ scope, budget }) =>
    budget == null ||
    budget.period !== unit ||
    scope.type === 'key' ||
    (scope.type === 'project' && scope.project !== project)
      ? []
      : [{ label: `Budget of the ${scope.type} for a ${unit}`, value: budget.amount }],
  )
}
