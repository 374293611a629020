import { Button, Switch } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, dataOf, type Automation } from '../kit/api.js'
import { wholeNumber } from '../kit/format.js'
import { EVENT_LABELS } from './automation-draft.js'
import { usePlace } from '../kit/place.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Status } from '../kit/status.js'
import { Table, type Column } from '../kit/table.js'
import { keysOfTeam, useAutomations, useWebhooks } from '../kit/team-data.js'
import { Time } from '../kit/time.js'
import { useRights } from '../kit/session.js'
import { useTitle } from '../kit/title.js'

/** The automations of a team, with when they last fired. */
export const AutomationsPage = () => {
  const { team } = usePlace()
  const { canAutomate } = useRights(team)
  useTitle('Automations')
  const automations = useAutomations(team)
  const webhooks = useWebhooks(team, canAutomate)
  const names = new Map((webhooks.data?.data ?? []).map(({ id, name }) => [id, name]))
  return (
    <div className="page">
      <div className="bar">
        <h1>Automations</h1>
        <span className="spacer" />
        {canAutomate && (
          <Button component={Link} to={`/${team}/-/automations/new`}>
            Create automation
          </Button>
        )}
      </div>
      {automations.isError && (
        <Failed error={automations.error} what="The automations" onRetry={() => void automations.refetch()} />
      )}
      {automations.isPending && <Loading what="automations" />}
      {automations.data?.data.length === 0 && (
        <Empty title="This team has no automations yet">
          An automation sends a message to a webhook when something happens, for example when an alias is
          added to a version of a model, or when a call fails.{' '}
          {!canAutomate && 'Administrators of the team, a project or a registry can create them.'}
        </Empty>
      )}
      {automations.isSuccess && automations.data.data.length > 0 && (
        <Table
          label="Automations"
          columns={columnsIn(team, names, canAutomate)}
          rows={automations.data.data}
          keyOf={({ id }) => id}
        />
      )}
    </div>
  )
}

const scopeName = ({ type, project, registry }: Automation['scope']): string =>
  type === 'team' ? 'the team' : type === 'project' ? (project ?? '') : `registry ${registry ?? ''}`

const columnsIn = (
  team: string,
  webhooks: ReadonlyMap<string, string>,
  canChange: boolean,
): readonly Column<Automation>[] => [
  {
    label: 'Name',
    cell: ({ id, name }) => (
      <Link className="strong" to="/$team/-/automations/$id" params={{ team, id }}>
        {name}
      </Link>
    ),
  },
  { label: 'Event', width: 280, cell: ({ event: { type } }) => EVENT_LABELS[type] },
  { label: 'Scope', width: 140, cell: ({ scope }) => scopeName(scope) },
  {
    label: 'Webhook',
    width: 160,
    cell: ({ webhook, broken }) =>
      broken ? (
        <Status tone="warn">{broken.replaceAll('_', ' ')}</Status>
      ) : (
        <Link to="/$team/-/webhooks/$id" params={{ team, id: webhook }}>
          {webhooks.get(webhook) ?? 'its webhook'}
        </Link>
      ),
  },
  { label: 'Last execution', width: 150, cell: ({ last_fired_at }) => <Time at={last_fired_at ?? null} /> },
  {
    label: 'Fired in 24 h',
    width: 130,
    isNumber: true,
    cell: ({ fired_24h, failed_24h }) =>
      `${wholeNumber(fired_24h ?? 0)}${failed_24h ? `, ${wholeNumber(failed_24h)} failed` : ''}`,
  },
  {
    label: 'Enabled',
    width: 80,
    cell: (row) => <EnabledSwitch team={team} automation={row} canChange={canChange} />,
  },
]

const EnabledSwitch = ({
  team,
  automation: { id, name, enabled },
  canChange,
}: {
  readonly team: string
  readonly automation: Automation
  readonly canChange: boolean
}) => {
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (next: boolean) =>
      dataOf(api.PATCH('/api/automations/{id}', { params: { path: { id } }, body: { enabled: next } })),
    onSettled: () => queries.invalidateQueries({ queryKey: keysOfTeam.automations(team) }),
  })
  return (
    <Switch
      size="xs"
      aria-label={`${name} is enabled`}
      disabled={!canChange}
      checked={change.isPending ? change.variables : enabled}
      onChange={(event) => change.mutate(event.currentTarget.checked)}
    />
  )
}
