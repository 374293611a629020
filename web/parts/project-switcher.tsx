import { Button, Menu, TextInput } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, dataOf } from '../api.js'
import { useSession } from '../session.js'
import { usePlace } from './place.js'

/** The projects of all teams of the user, the one used last first within a team. */
export const useProjects = () => {
  const { user } = useSession()
  return useQueries({
    queries: user.teams.map(({ team }) => ({
      queryKey: ['projects', team],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const { data } = await dataOf(
          api.GET('/api/teams/{team}/projects', { params: { path: { team } }, signal }),
        )
        return data.map((project) => ({ ...project, team }))
      },
    })),
    combine: (results) => ({
      projects: results.flatMap(({ data }) => data ?? []),
      isPending: results.some(({ isPending }) => isPending),
      error: results.find(({ error }) => error !== null)?.error ?? null,
      refetch: () => void Promise.all(results.map(({ refetch }) => refetch())),
    }),
  })
}

export const ProjectSwitcher = () => {
  const { team, project } = usePlace()
  return (
    <Menu position="bottom-start" width={300}>
      <Menu.Target>
        <Button variant="default" size="compact-sm" className="switcher">
          {project !== '' ? `${team} / ${project}` : team !== '' ? team : 'Choose a project'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Projects />
      </Menu.Dropdown>
    </Menu>
  )
}

/** Asked for when the menu opens, and not before. */
const Projects = () => {
  const { projects, isPending } = useProjects()
  const navigate = useNavigate()
  const [wanted, setWanted] = useState('')
  const found = projects.filter((one) =>
    `${one.team}/${one.name}`.toLowerCase().includes(wanted.toLowerCase()),
  )
  return (
    <>
      <TextInput
        aria-label="Find a project"
        placeholder="Find a project"
        value={wanted}
        data-autofocus
        onChange={(event) => setWanted(event.currentTarget.value)}
      />
      {found.slice(0, 12).map((one) => (
        <Menu.Item
          key={`${one.team}/${one.name}`}
          onClick={() => void navigate({ href: `/${one.team}/${one.name}/traces` })}
        >
          {one.team} / {one.name}
        </Menu.Item>
      ))}
      {found.length === 0 && !isPending && <Menu.Label>No project has this name.</Menu.Label>}
    </>
  )
}
