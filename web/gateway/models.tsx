import { Link } from '@tanstack/react-router'
import type { Schemas } from '../kit/api.js'
import { perMillion, wholeNumber } from '../kit/format.js'
import { useAddress } from '../kit/place.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Status, type Tone } from '../kit/status.js'
import { Table, type Column } from '../kit/table.js'
import { useUpstreams } from '../kit/team-data.js'
import {
  ModelProjects,
  requestColumns,
  requestsHref,
  useModelRequests,
  type ModelRequests,
  type RequestsOfDay,
} from './model-requests.js'

type Upstream = Schemas['Upstream']
type Health = Upstream['health']['models'][number]

/** A model as one upstream serves it. */
interface Served {
  readonly upstream: Upstream
  readonly model: Upstream['models'][number]
  readonly health: Health | undefined
  /** Of the model at all upstreams, in its first row only; undefined until they are known. */
  readonly requests: ModelRequests | null | undefined
}

const HEALTH: Readonly<Record<Health['state'], readonly [Tone, string]>> = {
  in: ['ok', 'healthy'],
  probing: ['warn', 'probing'],
  out: ['danger', 'not asked'],
}

const ModelHealth = ({
  enabled,
  health,
}: {
  readonly enabled: boolean
  readonly health: Health | undefined
}) => {
  if (!enabled) return <Status tone="plain">disabled</Status>
  if (health === undefined) return <Status tone="plain">unknown</Status>
  const [tone, word] = HEALTH[health.state]
  const faults = health.faults_in_a_row
  return <Status tone={tone}>{faults === 0 ? word : `${word}, ${faults} failed`}</Status>
}

const price = (of: string | undefined) => (of === undefined ? 'no price' : perMillion(of))

const columnsIn = (team: string): readonly Column<Served>[] => [
  {
    label: 'Model',
    cell: ({ model: { id, aliases = [] } }) => (
      <span className="mono" title={aliases.length === 0 ? id : `Also ${aliases.join(', ')}`}>
        {id}
      </span>
    ),
  },
  {
    label: 'Upstream, its name there',
    cell: ({ upstream: { id, name }, model: { upstream_id } }) => (
      <span title={`${name}: ${upstream_id}`}>
        <Link className="strong" to="/$team/-/gateway/upstreams/$id" params={{ team, id }}>
          {name}
        </Link>{' '}
        <span className="mono">{upstream_id}</span>
      </span>
    ),
  },
  {
    label: 'Health',
    width: 150,
    cell: ({ upstream: { enabled = true }, health }) => <ModelHealth enabled={enabled} health={health} />,
  },
  { label: 'Weight', width: 70, isNumber: true, cell: ({ upstream }) => wholeNumber(upstream.weight ?? 1) },
  {
    label: 'Running',
    width: 80,
    isNumber: true,
    cell: ({ health }) => (health === undefined ? 'unknown' : wholeNumber(health.in_flight)),
  },
  { label: 'Input', width: 100, isNumber: true, cell: ({ model }) => price(model.price?.prompt_token_cost) },
  {
    label: 'Output',
    width: 100,
    isNumber: true,
    cell: ({ model }) => price(model.price?.completion_token_cost),
  },
]

/** The models that the team's upstreams serve, one row for each upstream of a model. */
export const Models = ({ team }: { readonly team: string }) => {
  const upstreams = useUpstreams(team)
  const day = useModelRequests(team)
  const [{ model: shown = '' }] = useAddress()
  if (upstreams.isError)
    return <Failed error={upstreams.error} what="The models" onRetry={() => void upstreams.refetch()} />
  if (!upstreams.isSuccess) return <Loading what="models" />
  const rows = servedBy(upstreams.data.data, day.data)
  if (rows.length === 0)
    return (
      <Empty title="This team has no models yet">
        A model is served by an upstream: a server with an API like OpenAI&apos;s.{' '}
        <Link to="/$team/-/gateway/upstreams/$id" params={{ team, id: 'new' }}>
          Create an upstream
        </Link>
      </Empty>
    )
  const requests = day.data?.models.get(shown)
  return (
    <>
      <div className="secondary">
        Prices are dollars for a million tokens. Requests, the share of those that failed and their median
        duration are of the last 24 hours, at all upstreams of a model and in all projects of the team.
      </div>
      {day.isError && <Failed error={day.error} what="The requests" onRetry={() => void day.refetch()} />}
      <Table
        label="Models"
        columns={[
          ...columnsIn(team),
          ...requestColumns<Served>(
            (row) => row.requests,
            ({ requests: of }, conditions, sort) => requestsHref(team, of!, day.data!, conditions, sort),
          ),
        ]}
        rows={rows}
        keyOf={({ upstream, model }) => `${upstream.id} ${model.id}`}
      />
      {requests !== undefined && <ModelProjects team={team} requests={requests} day={day.data!} />}
    </>
  )
}

const servedBy = (upstreams: readonly Upstream[], day: RequestsOfDay | undefined): readonly Served[] => {
  const rows = upstreams
    .flatMap((upstream) =>
      upstream.models.map((model) => {
        const health = upstream.health.models.find((one) => one.model === model.id)
        return { upstream, model, health }
      }),
    )
    .sort((one, other) => (one.model.id < other.model.id ? -1 : 1))
  return rows.map((row, n) => ({
    ...row,
    requests:
      day === undefined || rows[n - 1]?.model.id === row.model.id
        ? undefined
        : (day.models.get(row.model.id) ?? null),
  }))
}
