import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../kit/api.js'
import { DeliveryState } from './delivery-state.js'
import { usePlace } from '../kit/place.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { useWebhooks } from '../kit/team-data.js'
import { Time } from '../kit/time.js'
import { SuccessRate, WebhookState } from './webhook-state.js'
import { useRights } from '../kit/session.js'
import { useTitle } from '../kit/title.js'

type Webhook = Schemas['Webhook']

const columnsIn = (team: string): readonly Column<Webhook>[] => [
  {
    label: 'Name',
    cell: ({ id, name }) => (
      <Link className="strong" to="/$team/-/webhooks/$id" params={{ team, id }}>
        {name}
      </Link>
    ),
  },
  { label: 'State', width: 210, cell: (webhook) => <WebhookState webhook={webhook} /> },
  {
    label: 'Success in 24 h',
    width: 130,
    isNumber: true,
    cell: (webhook) => <SuccessRate webhook={webhook} team={team} />,
  },
  {
    label: 'Last delivery',
    width: 220,
    cell: ({ last_delivery }) =>
      last_delivery ? (
        <>
          <Link to="/$team/-/deliveries/$id" params={{ team, id: last_delivery.id }}>
            <DeliveryState state={last_delivery.state} />
          </Link>{' '}
          <Time at={last_delivery.at} />
        </>
      ) : (
        '—'
      ),
  },
  { label: 'Used by', cell: ({ used_by }) => (used_by ?? []).map(({ name }) => name).join(', ') || '—' },
  { label: 'Endpoint URL', cell: ({ url }) => <span title={url ?? ''}>{url ?? '—'}</span> },
]

/** The webhooks of a team with their states. */
export const WebhooksPage = () => {
  const { team } = usePlace()
  const { isTeamAdministrator } = useRights(team)
  useTitle('Webhooks')
  const webhooks = useWebhooks(team)
  return (
    <div className="page">
      <div className="bar">
        <h1>Webhooks</h1>
        <span className="spacer" />
        {isTeamAdministrator && (
          <Button component={Link} to={`/${team}/-/webhooks/new`}>
            New webhook
          </Button>
        )}
      </div>
      {webhooks.isError && (
        <Failed error={webhooks.error} what="The webhooks" onRetry={() => void webhooks.refetch()} />
      )}
      {webhooks.isPending && <Loading what="webhooks" />}
      {webhooks.data?.data.length === 0 && (
        <Empty title="This team has no webhooks yet">
          A webhook is an address that automations send messages to, such as a repository dispatch or a chat.{' '}
          {isTeamAdministrator ? 'Create one and test it.' : 'A team administrator can create one.'}
        </Empty>
      )}
      {webhooks.isSuccess && webhooks.data.data.length > 0 && (
        <Table label="Webhooks" columns={columnsIn(team)} rows={webhooks.data.data} keyOf={({ id }) => id} />
      )}
    </div>
  )
}
