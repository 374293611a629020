import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { AppLink } from '../kit/app-link.js'
import { duration, percent, wholeNumber } from '../kit/format.js'
import { printSearch } from '../kit/search.js'
import { rangeOf } from '../kit/range.js'
import { Table, type Column } from '../kit/table.js'
import { callsHref } from '../traces/address.js'
import { isEqual, operandOf, type Operand } from '../traces/filter.js'

export type ModelRequests = Schemas['ModelRequests']
type Figures = Omit<Schemas['ModelRequestsOfProject'], 'project'>

/** The requests of the last 24 hours for each model, and the range that they are counted in. */
export const useModelRequests = (team: string) =>
  useQuery({
    queryKey: ['model requests', team],
    refetchInterval: 60_000,
    queryFn: async ({ signal }) => {
      const now = Date.now()
      const query = { start: rangeOf('24h', now).from!, end: new Date(now).toISOString() }
      const answer = await dataOf(
        api.GET('/api/pages/teams/{team}/models', { params: { path: { team }, query }, signal }),
      )
      return { ...query, models: new Map(answer.data.map((one) => [one.model, one])) }
    },
  })

export type RequestsOfDay = NonNullable<ReturnType<typeof useModelRequests>['data']>

const HAS_FAILED = isEqual('summary.weave.status', 'error')
const DURATION = 'summary.weave.latency_ms'
const HAS_ENDED = operandOf({ field: DURATION, operator: 'exists', value: '' })

const FIGURES: readonly {
  readonly label: string
  readonly width: number
  readonly text: (figures: Figures) => string
  readonly title?: (figures: Figures) => string
  readonly conditions: readonly Operand[]
  readonly sort?: string
}[] = [
  { label: 'Requests', width: 80, text: ({ requests }) => wholeNumber(requests), conditions: [] },
  {
    label: 'Errors',
    width: 72,
    text: ({ requests, errors }) => percent((100 * errors) / requests),
    title: ({ requests, errors }) => `${wholeNumber(errors)} of ${wholeNumber(requests)}`,
    conditions: [HAS_FAILED],
  },
  {
    label: 'p50',
    width: 80,
    text: ({ p50_ms }) => (p50_ms === null ? '—' : duration(p50_ms * 1000)),
    conditions: [HAS_ENDED],
    sort: DURATION,
  },
]

/** Columns of figures of requests that lead to the calls they count. Without requests the count is 0: null. */
export const requestColumns = <Row,>(
  figuresOf: (row: Row) => Figures | null | undefined,
  hrefOf: (row: Row, conditions: readonly Operand[], sort: string | undefined) => string,
): readonly Column<Row>[] =>
  FIGURES.map(({ label, width, text, title, conditions, sort }, n) => ({
    label,
    width,
    isNumber: true,
    cell: (row) => {
      const figures = figuresOf(row)
      if (figures === undefined) return ''
      if (figures === null) return n === 0 ? '0' : '—'
      return (
        <AppLink href={hrefOf(row, conditions, sort)} title={title?.(figures)}>
          {text(figures)}
        </AppLink>
      )
    },
  }))

/** The calls of a model in a project, or for several projects the figures of each. */
export const requestsHref = (
  team: string,
  { model, projects }: Pick<ModelRequests, 'model' | 'projects'>,
  { start, end }: Pick<RequestsOfDay, 'start' | 'end'>,
  conditions: readonly Operand[],
  sort = '',
): string =>
  projects.length === 1
    ? callsHref(
        { team, project: projects[0]!.project },
        {
          conditions: [isEqual('attributes.tallytree.model', model), ...conditions],
          ...{ range: `${start}..${end}`, all: true, sort },
        },
      )
    : `/${team}/-/gateway/models${printSearch({ model })}`

/** The requests for a model by project. */
export const ModelProjects = ({
  team,
  requests: { model, projects },
  day,
}: {
  readonly team: string
  readonly requests: ModelRequests
  readonly day: RequestsOfDay
}) => (
  <section aria-labelledby="by-project">
    <h2 id="by-project">{model} by project</h2>
    <Table
      label={`${model} by project`}
      rows={projects}
      keyOf={({ project }) => project}
      columns={[
        { label: 'Project', cell: ({ project }) => project },
        ...requestColumns<ModelRequests['projects'][number]>(
          (row) => row,
          (row, conditions, sort) => requestsHref(team, { model, projects: [row] }, day, conditions, sort),
        ),
      ]}
    />
  </section>
)
