import { useRights, useSession } from '../kit/session.js'
import { useAutomations, useUpstreams, useWebhooks } from '../kit/team-data.js'

/** Where the palette leads. */
export interface Target {
  readonly label: string
  readonly group: string
  readonly href: string
}

/** What has a name in a team, and what can be made there. Asked for when the palette opens. */
export const useNamedThings = (team: string): readonly Target[] => {
  const { user } = useSession()
  const { canAutomate, isTeamAdministrator } = useRights(team)
  const isKnown = user.teams.some((membership) => membership.team === team)
  const webhooks = useWebhooks(team, isKnown && canAutomate)
  const automations = useAutomations(team, isKnown)
  const upstreams = useUpstreams(team, isKnown && isTeamAdministrator)
  const at = (path: string, id: string) => `/${team}/-/${path}/${encodeURIComponent(id)}`
  const named = (
    group: string,
    path: string,
    things: readonly { readonly id: string; readonly name: string }[],
  ) => things.map(({ id, name }) => ({ label: name, group, href: at(path, id) }))
  const action = (label: string, path: string) => ({ label, group: 'Action', href: at(path, 'new') })
  return [
    ...(isKnown && canAutomate ? [action('New automation', 'automations')] : []),
    ...(isKnown && isTeamAdministrator
      ? [action('New webhook', 'webhooks'), action('New upstream', 'gateway/upstreams')]
      : []),
    ...named('Webhook', 'webhooks', webhooks.data?.data ?? []),
    ...named('Automation', 'automations', automations.data?.data ?? []),
    ...named('Upstream', 'gateway/upstreams', upstreams.data?.data ?? []),
    ...(upstreams.data?.data ?? []).flatMap(({ id, models }) =>
      models.map((model) => ({ label: model.id, group: 'Model', href: at('gateway/upstreams', id) })),
    ),
  ]
}
