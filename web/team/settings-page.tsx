import { Tabs } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { Members } from './members.js'
import { useIdInPath, usePlace } from '../kit/place.js'
import { Prices } from './prices.js'
import { Secrets } from './secrets.js'
import { TeamProjects } from './team-projects.js'
import { useRights } from '../kit/session.js'
import { useTitle } from '../kit/title.js'

const TABS: readonly (readonly [path: string, label: string])[] = [
  ['members', 'Members'],
  ['secrets', 'Secrets'],
  ['projects', 'Projects'],
  ['prices', 'Prices'],
]

/** The settings of a team, one tab each. */
export const SettingsPage = () => {
  const { team } = usePlace()
  const wanted = useIdInPath('tab')
  const tab = TABS.some(([path]) => path === wanted) ? wanted : 'members'
  const { isTeamAdministrator } = useRights(team)
  const navigate = useNavigate()
  useTitle(`${TABS.find(([path]) => path === tab)![1]} · Team settings`)
  return (
    <div className="page">
      <h1>Team settings</h1>
      <Tabs
        value={tab}
        onChange={(next) =>
          void navigate({ to: '/$team/-/settings/{-$tab}', params: { team, tab: next ?? 'members' } })
        }
      >
        <Tabs.List>
          {TABS.map(([path, label]) => (
            <Tabs.Tab key={path} value={path}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      {tab === 'members' && <Members team={team} canChange={isTeamAdministrator} />}
      {tab === 'secrets' && <Secrets team={team} canChange={isTeamAdministrator} />}
      {tab === 'projects' && <TeamProjects team={team} />}
      {tab === 'prices' && <Prices team={team} />}
    </div>
  )
}
