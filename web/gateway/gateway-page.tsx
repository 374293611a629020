import { Tabs } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useIdInPath, usePlace } from '../kit/place.js'
import { useRights } from '../kit/session.js'
import { Empty } from '../kit/states.js'
import { useTitle } from '../kit/title.js'
import { Spend } from '../usage/spend.js'
import { Limits } from './limits.js'
import { Models } from './models.js'
import { TeamKeys } from './team-keys.js'
import { Upstreams } from './upstreams.js'

const TABS = [
  { path: 'models', label: 'Models', page: Models },
  { path: 'upstreams', label: 'Upstreams', page: Upstreams },
  { path: 'limits', label: 'Limits', page: Limits },
  { path: 'keys', label: 'Keys', page: TeamKeys },
  { path: 'spend', label: 'Spend', page: Spend },
] as const

/** The gateway of a team: its models and upstreams, its limits, and the keys of its members. */
export const GatewayPage = () => {
  const { team } = usePlace()
  const wanted = useIdInPath('tab')
  const { path, label, page: Page } = TABS.find((tab) => tab.path === wanted) ?? TABS[0]
  const { isTeamAdministrator } = useRights(team)
  const navigate = useNavigate()
  useTitle(`${label} · Gateway`)
  return (
    <div className="page">
      <h1>Gateway</h1>
      <Tabs
        value={path}
        onChange={(tab) =>
          void navigate({ to: '/$team/-/gateway/{-$tab}', params: { team, tab: tab ?? 'models' } })
        }
      >
        <Tabs.List>
          {TABS.map((tab) => (
            <Tabs.Tab key={tab.path} value={tab.path}>
              {tab.label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      {/* Spend is for all members, as usage is. */}
      {isTeamAdministrator || path === 'spend' ? (
        <Page team={team} />
      ) : (
        <Empty title="You cannot see the gateway of this team">
          It needs the role team_administrator, which the team&apos;s administrators can give you under Team
          settings.
        </Empty>
      )}
    </div>
  )
}
