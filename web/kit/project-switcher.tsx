import { Button, Menu, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQueries } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, dataOf } from './api.js'
import { useSession } from './session.js'
import { usePlace } from './place.js'

/** The projects of all teams of the user whose names contain a text, the one used last first within a team. */
export const useProjects = (q = '') => {
  const { user } = useSession()
  return useQueries({
    queries: user.teams.map(({ team }) => ({
      queryKey: ['projects', team, q],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const params = { path: { team }, query: q === '' ? {} : { q } }
        const answer = await dataOf(api.GET('/api/teams/{team}/projects', { params, signal }))
        return { ...answer, data: answer.data.map((project) => ({ ...project, team })) }
      },
    })),
    combine: (results) => ({
      projects: results.flatMap(({ data }) => data?.data ?? []),
      hasMore: results.some(({ data }) => data?.has_more),
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
  const navigate = useNavigate()
  const [wanted, setWanted] = useState('')
  const [typed] = useDebouncedValue(wanted, 150)
  const first = useProjects()
  const named = typed.slice(typed.lastIndexOf('/') + 1).trim()
  const { projects, isPending } = useProjects(first.hasMore ? named : '')
  const all = new Map([...first.projects, ...projects].map((one) => [`${one.team}/${one.name}`, one]))
  const found = [...all].filter(([name]) => name.toLowerCase().includes(wanted.toLowerCase()))
  return (
    <>
      <TextInput
        aria-label="Find a project"
        placeholder="Find a project"
        value={wanted}
        data-autofocus
        onChange={(event) => setWanted(event.currentTarget.value)}
      />
      {found.slice(0, 12).map(([name, one]) => (
        <Menu.Item key={name} onClick={() => void navigate({ href: `/${one.team}/${one.name}` })}>
          {one.team} / {one.name}
        </Menu.Item>
      ))}
      {found.length === 0 && !isPending && <Menu.Label>No project has this name.</Menu.Label>}
    </>
  )
}
