import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'

export type EventInfo = Schemas['AutomationEventInfo']

/** The kinds of events that automations can react to, with their fields and variables. */
export const useEventTypes = () =>
  useQuery({
    queryKey: ['event types'],
    staleTime: Infinity,
    queryFn: ({ signal }) => dataOf(api.GET('/api/automation-events', { signal })),
  })
