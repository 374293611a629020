import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../kit/api.js'
import { useRights, useSession } from '../kit/session.js'
import { useWebhooks } from '../kit/team-data.js'
import { shownState } from '../webhooks/webhook-state.js'

const EVERY_MS = 60_000
const DAY_MS = 86_400_000

/** What asks for action, by the path of its page: deliveries that failed within 24 hours, and failing webhooks. */
export const useRailCounts = (team: string): Readonly<Record<string, number>> => {
  const { user } = useSession()
  const rights = useRights(team)
  // Addresses can name teams that do not exist.
  const isKnown = user.teams.some((membership) => membership.team === team)
  const canAutomate = isKnown && rights.canAutomate
  const { data: webhooks } = useWebhooks(team, canAutomate)
  const { data: deliveries } = useQuery({
    queryKey: ['failed deliveries', team],
    queryFn: ({ signal }) => {
      const query = { team, state: 'dead', from: new Date(Date.now() - DAY_MS).toISOString() }
      return dataOf(api.GET('/api/deliveries/counts', { params: { query }, signal }))
    },
    enabled: canAutomate,
    refetchInterval: EVERY_MS,
  })
  return {
    deliveries: deliveries?.total ?? 0,
    webhooks: webhooks?.data.filter((webhook) => shownState(webhook)[0] === 'danger').length ?? 0,
  }
}
