import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../kit/api.js'
import { wholeNumber } from '../kit/format.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Status } from '../kit/status.js'
import { Table, type Column } from '../kit/table.js'
import { useUpstreams } from '../kit/team-data.js'

type Upstream = Schemas['Upstream']

const UpstreamState = ({ upstream }: { readonly upstream: Upstream }) => {
  const { enabled = true, health } = upstream
  if (!enabled) return <Status tone="plain">disabled</Status>
  const out = health.models.filter(({ state }) => state === 'out').length
  if (out === 0) return <Status tone="ok">healthy</Status>
  return out === health.models.length ? (
    <Status tone="danger">not asked</Status>
  ) : (
    <Status tone="warn">{`${out} of ${health.models.length} models not asked`}</Status>
  )
}

const columnsIn = (team: string): readonly Column<Upstream>[] => [
  {
    label: 'Name',
    cell: ({ id, name }) => (
      <Link className="strong" to="/$team/-/gateway/upstreams/$id" params={{ team, id }}>
        {name}
      </Link>
    ),
  },
  { label: 'Health', width: 240, cell: (upstream) => <UpstreamState upstream={upstream} /> },
  { label: 'Models', width: 90, isNumber: true, cell: ({ models }) => wholeNumber(models.length) },
  { label: 'Weight', width: 90, isNumber: true, cell: ({ weight = 1 }) => wholeNumber(weight) },
  { label: 'Secret', width: 200, cell: ({ secret }) => secret ?? '—' },
  { label: 'Address', cell: ({ base_url }) => <span title={base_url}>{base_url}</span> },
]

/** The servers of models of a team. */
export const Upstreams = ({ team }: { readonly team: string }) => {
  const upstreams = useUpstreams(team)
  return (
    <>
      <div>
        <Button component={Link} to={`/${team}/-/gateway/upstreams/new`}>
          New upstream
        </Button>
      </div>
      {upstreams.isError && (
        <Failed error={upstreams.error} what="The upstreams" onRetry={() => void upstreams.refetch()} />
      )}
      {upstreams.isPending && <Loading what="upstreams" />}
      {upstreams.data?.data.length === 0 && (
        <Empty title="This team has no upstreams yet">
          An upstream is a server of models with an API like OpenAI&apos;s. Create one and test it.
        </Empty>
      )}
      {upstreams.isSuccess && upstreams.data.data.length > 0 && (
        <Table
          label="Upstreams"
          columns={columnsIn(team)}
          rows={upstreams.data.data}
          keyOf={({ id }) => id}
        />
      )}
    </>
  )
}
