import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { wholeNumber } from '../kit/format.js'
import { useRights } from '../kit/session.js'
import { ProjectSettingsDialog } from './project-settings.js'
import { useProjects } from '../kit/project-switcher.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Table } from '../kit/table.js'
import { Time } from '../kit/time.js'

/** The projects of a team with their sizes. */
export const TeamProjects = ({ team }: { readonly team: string }) => {
  const { projects, isPending, error, refetch } = useProjects()
  const { canSetUp } = useRights(team)
  const [edited, setEdited] = useState<string>()
  const own = projects.filter((project) => project.team === team)
  if (error !== null) return <Failed error={error} what="The projects" onRetry={refetch} />
  if (isPending) return <Loading what="projects" />
  if (own.length === 0)
    return (
      <Empty title="This team has no projects yet">
        A project is made by the first call, artifact or run that names it.
      </Empty>
    )
  return (
    <>
      <Table
        label="Projects"
        rows={own}
        keyOf={({ name }) => name}
        columns={[
          {
            label: 'Project',
            cell: ({ name }) => (
              <Link className="strong" to="/$team/$project/traces" params={{ team, project: name }}>
                {name}
              </Link>
            ),
          },
          { label: 'Calls', width: 120, isNumber: true, cell: ({ calls }) => wholeNumber(calls) },
          {
            label: 'Object versions',
            width: 130,
            isNumber: true,
            cell: ({ object_versions }) => wholeNumber(object_versions),
          },
          { label: 'Artifacts', width: 90, isNumber: true, cell: ({ artifacts }) => wholeNumber(artifacts) },
          { label: 'Runs', width: 90, isNumber: true, cell: ({ runs }) => wholeNumber(runs) },
          {
            label: 'Automations',
            width: 110,
            isNumber: true,
            cell: ({ automations }) => wholeNumber(automations),
          },
          { label: 'Last call', width: 160, cell: ({ last_call_at }) => <Time at={last_call_at} /> },
          {
            label: '',
            width: 110,
            cell: ({ name }) =>
              canSetUp(name) && (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Settings of ${name}`}
                  onClick={() => setEdited(name)}
                >
                  Settings
                </Button>
              ),
          },
        ]}
      />
      {edited !== undefined && (
        <ProjectSettingsDialog team={team} project={edited} onClose={() => setEdited(undefined)} />
      )}
    </>
  )
}
