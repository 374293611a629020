import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { useAddress, usePlace, type Place } from '../kit/place.js'
import { rangeOf } from '../kit/range.js'
import { useZone } from '../kit/settings.js'
import { callsHref } from '../traces/address.js'
import type { Operand } from '../traces/filter.js'
import type { TimeRange } from './buckets.js'

export type Overview = Schemas['Overview']
export type ErrorGroup = Schemas['ErrorGroup']

export const INITIAL_RANGE = '7d'

/** The range of the address. Its end stays where it is until it is asked for again. */
const useTimeRange = (): readonly [range: TimeRange, again: () => void] => {
  const [{ range = '' }] = useAddress()
  const [askedAt, setAskedAt] = useState(() => Date.now())
  const chosen = useMemo(() => {
    const { from, to = new Date(askedAt).toISOString() } = rangeOf(range, askedAt)
    const { from: first } = rangeOf(INITIAL_RANGE, Date.parse(to))
    return { start: from ?? first!, end: to }
  }, [range, askedAt])
  return [chosen, () => setAskedAt(Date.now())]
}

/** What the overview shows, and the newest failures. */
export const useOverview = () => {
  const { projectId } = usePlace()
  const timezone = useZone()
  const [range, again] = useTimeRange()
  const body = { project_id: projectId, ...range }
  const overview = useQuery({
    queryKey: ['overview', projectId, range, timezone],
    queryFn: async ({ signal }) => ({
      ...(await dataOf(api.POST('/api/pages/overview', { body: { ...body, timezone }, signal }))),
      range,
    }),
    placeholderData: (before, query) => (query?.queryKey[1] === projectId ? before : undefined),
  })
  const errors = useQuery({
    queryKey: ['errors', projectId, range],
    queryFn: async ({ signal }) => ({
      ...(await dataOf(api.POST('/api/pages/errors', { body, signal }))),
      range,
    }),
    placeholderData: (before, query) => (query?.queryKey[1] === projectId ? before : undefined),
  })
  return { overview, errors, again }
}

/** The list of the calls that a figure of a range counts. */
export const linkTo = (
  place: Place,
  { start, end }: TimeRange,
  conditions: readonly Operand[] = [],
  options: { readonly all?: boolean; readonly sort?: string } = {},
): string => callsHref(place, { conditions, range: `${start}..${end}`, ...options })
