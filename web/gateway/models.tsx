import { Link } from '@tanstack/react-router'
import type { Schemas } from '../kit/api.js'
import { perMillion, wholeNumber } from '../kit/format.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Status, type Tone } from '../kit/status.js'
import { Table, type Column } from '../kit/table.js'
import { useUpstreams } from '../kit/team-data.js'

type Upstream = Schemas['Upstream']
type Health = Upstream['health']['models'][number]

/** A model as one upstream serves it. */
interface Served {
  readonly upstream: Upstream
  readonly model: Upstream['models'][number]
  readonly health: Health | undefined
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
    label: 'Upstream',
    cell: ({ upstream: { id, name } }) => (
      <Link className="strong" to="/$team/-/gateway/upstreams/$id" params={{ team, id }}>
        {name}
      </Link>
    ),
  },
  { label: 'Its name there', cell: ({ model }) => <span className="mono">{model.upstream_id}</span> },
  {
    label: 'Health',
    width: 170,
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
  if (upstreams.isError)
    return <Failed error={upstreams.error} what="The models" onRetry={() => void upstreams.refetch()} />
  if (!upstreams.isSuccess) return <Loading what="models" />
  const rows = upstreams.data.data
    .flatMap((upstream) =>
      upstream.models.map((model): Served => {
        const health = upstream.health.models.find((one) => one.model === model.id)
        return { upstream, model, health }
      }),
    )
    .sort((one, other) => (one.model.id < other.model.id ? -1 : 1))
  if (rows.length === 0)
    return (
      <Empty title="This team has no models yet">
        A model is served by an upstream: a server with an API like OpenAI&apos;s.{' '}
        <Link to="/$team/-/gateway/upstreams/$id" params={{ team, id: 'new' }}>
          Create an upstream
        </Link>
      </Empty>
    )
  return (
    <>
      <div className="secondary">Prices are dollars for a million tokens.</div>
      <Table
        label="Models"
        columns={columnsIn(team)}
        rows={rows}
        keyOf={({ upstream, model }) => `${upstream.id} ${model.id}`}
      />
    </>
  )
}
