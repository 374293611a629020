import { Button, TextInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { wholeNumber } from '../kit/format.js'
import { Snippets } from '../kit/first-trace.js'
import { useProjects } from '../kit/project-switcher.js'
import { Failed, Loading } from '../kit/states.js'
import { Table } from '../kit/table.js'
import { Time } from '../kit/time.js'
import { useSession } from '../kit/session.js'
import { onSubmit } from '../kit/on-submit.js'
import { useTitle } from '../kit/title.js'

/** How often a first project is looked for. */
const FIRST_PROJECT_MS = 3000

/** The projects of the user, or how to begin where there are none. */
export const HomePage = () => {
  const { user, refresh } = useSession()
  const { projects, isPending, error, refetch } = useProjects()
  const isEmpty = !isPending && projects.length === 0
  useTitle('Projects')
  const ask = useRef(refetch)
  useEffect(() => {
    // The first call may also make a team.
    ask.current = () => {
      refetch()
      void refresh()
    }
  })
  useEffect(() => {
    if (!isEmpty) return
    const timer = setInterval(() => ask.current(), FIRST_PROJECT_MS)
    return () => clearInterval(timer)
  }, [isEmpty])
  return (
    <div className="page" style={{ maxWidth: 960 }}>
      <div className="bar">
        <h1>Projects</h1>
        <span className="spacer" />
        <OpenProject />
      </div>
      {error !== null && <Failed error={error} what="The projects" onRetry={refetch} />}
      {isPending && <Loading what="projects" />}
      {projects.length > 0 && (
        <Table
          label="Projects"
          rows={projects}
          keyOf={({ team, name }) => `${team}/${name}`}
          columns={[
            {
              label: 'Project',
              cell: ({ team, name }) => (
                <Link className="strong" to="/$team/$project" params={{ team, project: name }}>
                  {team} / {name}
                </Link>
              ),
            },
            { label: 'Calls', width: 90, isNumber: true, cell: ({ calls }) => wholeNumber(calls) },
            { label: 'Last call', width: 110, cell: ({ last_call_at }) => <Time at={last_call_at} /> },
          ]}
        />
      )}
      {isEmpty && error === null && <Begin team={user.teams[0]?.team ?? ''} />}
    </div>
  )
}

const Begin = ({ team }: { readonly team: string }) => (
  <>
    <p>
      A project is made by the first call that names it. Choose a name, run one of these programs, and the
      call appears on the project's page.
    </p>
    <Snippets projectId={`${team === '' ? 'my-team' : team}/my-project`} />
  </>
)

const OpenProject = () => {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [error, setError] = useState<string>()
  const submit = onSubmit(() => {
    const [, team, project] = /^([^/]+)\/([^/]+)$/.exec(name.trim()) ?? []
    if (team === undefined || project === undefined) setError('Enter team/project, such as acme/support.')
    else void navigate({ href: `/${encodeURIComponent(team)}/${encodeURIComponent(project)}` })
  })
  return (
    <form className="bar" onSubmit={submit} style={{ alignItems: 'flex-start' }}>
      <TextInput
        aria-label="Open or begin a project: team/project"
        placeholder="team/project"
        value={name}
        error={error}
        onChange={(event) => {
          setName(event.currentTarget.value)
          setError(undefined)
        }}
      />
      <Button type="submit" variant="default">
        Open
      </Button>
    </form>
  )
}
