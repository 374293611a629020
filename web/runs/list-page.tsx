import { Checkbox } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { address } from '../kit/boot.js'
import { CopyButton } from '../kit/copy.js'
import { duration, significantNumber, wholeNumber } from '../kit/format.js'
import { useAddress, usePlace, type Place } from '../kit/place.js'
import { ShowMore } from '../kit/show-more.js'
import { Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { Time } from '../kit/time.js'
import { useTitle } from '../kit/title.js'
import { RunCharts } from './charts.js'
import { ColumnMenu } from './column-menu.js'
import { ranFor, RunState } from './run-state.js'

type Run = Schemas['PageRun']

const EVERY_MS = 5000
/** Shown in charts unless others are chosen. */
const FIRST_RUNS = 5
const MOST_RUNS = 10
const MOST_COLUMNS = 20

const listIn = (text: string | undefined): readonly string[] =>
  (text ?? '').split(',').filter((item) => item !== '')

/** The runs of a project with their configuration and results, and charts of the chosen ones. */
export const RunsPage = () => {
  const place = usePlace()
  const { projectId } = place
  useTitle('Runs')
  const [search, set] = useAddress()
  const columns = listIn(search['columns']).slice(0, MOST_COLUMNS)
  const list = useInfiniteQuery({
    queryKey: ['runs', 'list', projectId, columns],
    queryFn: ({ pageParam, signal }) => {
      const body = { project_id: projectId, columns, offset: pageParam }
      return dataOf(api.POST('/api/pages/runs', { body, signal }))
    },
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: EVERY_MS,
    placeholderData: (before) => before,
  })
  const runs = list.data?.pages.flatMap(({ data }) => data) ?? []
  const names = [...new Set(list.data?.pages.flatMap((page) => page.names) ?? [])].sort()
  const chosen = search['runs'] === undefined ? undefined : listIn(search['runs'])
  const charted =
    chosen === undefined
      ? runs.slice(0, FIRST_RUNS)
      : chosen.flatMap((id) => runs.find((run) => run.id === id) ?? []).slice(0, MOST_RUNS)
  const shownIds = charted.map(({ id }) => id)
  const toggle = (id: string) => {
    const ids = shownIds.includes(id) ? shownIds.filter((one) => one !== id) : [...shownIds, id]
    set({ runs: ids.length === 0 ? 'none' : ids.join(',') }, true)
  }
  return (
    <div className="page">
      <div className="bar">
        <h1>Runs</h1>
        <span className="spacer" />
        {names.length > 0 && (
          <ColumnMenu
            names={names}
            shown={columns}
            most={MOST_COLUMNS}
            onChange={(value) => set({ columns: value.join(',') }, true)}
          />
        )}
      </div>
      {list.isError && <Failed error={list.error} what="The project" onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading what="runs" />}
      {list.isSuccess && runs.length === 0 && <FirstRun {...place} />}
      {runs.length > 0 && (
        <>
          <Table
            label="Runs"
            columns={[shownColumn(shownIds, toggle), ...columnsIn(place), ...columns.map(valueColumn)]}
            rows={runs}
            keyOf={({ id }) => id}
          />
          <div>
            <ShowMore list={list} />
          </div>
          {charted.length === 0 ? (
            <div className="secondary">Choose runs to see their charts.</div>
          ) : (
            <RunCharts
              projectId={projectId}
              runs={charted}
              isLive={charted.some(({ state }) => state === 'running')}
            />
          )}
        </>
      )}
    </div>
  )
}

const shownColumn = (shown: readonly string[], toggle: (id: string) => void): Column<Run> => ({
  label: 'Charts',
  width: 64,
  cell: ({ id, name }) => (
    <Checkbox
      size="xs"
      aria-label={`Charts of ${name}`}
      checked={shown.includes(id)}
      disabled={!shown.includes(id) && shown.length >= MOST_RUNS}
      onChange={() => toggle(id)}
    />
  ),
})

const columnsIn = ({ team, project }: Place): readonly Column<Run>[] => [
  {
    label: 'Name',
    cell: ({ id, name }) => (
      <Link className="strong" to="/$team/$project/runs/$run" params={{ team, project, run: id }}>
        {name}
      </Link>
    ),
  },
  { label: 'State', width: 104, cell: ({ state }) => <RunState state={state} /> },
  { label: 'User', width: 110, cell: ({ user }) => user },
  { label: 'Group', width: 100, cell: ({ group }) => group ?? '—' },
  { label: 'Started', width: 124, cell: ({ started_at }) => <Time at={started_at} /> },
  { label: 'Ran for', width: 110, isNumber: true, cell: (run) => duration(ranFor(run)) },
  { label: 'Rows', width: 80, isNumber: true, cell: ({ history_lines }) => wholeNumber(history_lines) },
]

const valueColumn = (name: string, at: number): Column<Run> => ({
  label: name,
  head: <span title={name}>{name}</span>,
  width: 116,
  isNumber: true,
  cell: ({ values }) => <Value value={values[at]} />,
})

const Value = ({ value }: { readonly value: unknown }) => {
  if (value === null || value === undefined) return '—'
  if (typeof value === 'number') return significantNumber(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return <span title={text}>{text}</span>
}

const snippet = ({ team, project }: Place): string => `pip install wandb
export WANDB_BASE_URL=${address}
export WANDB_API_KEY=YOUR_API_KEY
python -c '
import wandb
with wandb.init(entity="${team}", project="${project}", config={"lr": 0.1}) as run:
    for step in range(100):
        run.log({"loss": 1 / (step + 1)})
'
`

const FirstRun = (place: Place) => {
  const text = snippet(place)
  return (
    <div style={{ maxWidth: 800 }}>
      <h2>
        No runs in {place.team}/{place.project} yet
      </h2>
      <p>
        The Python package wandb logs runs here as it is: it needs the address of this service and a key of
        yours.
      </p>
      <pre className="code" tabIndex={0} aria-label="Commands that log a run">
        {text}
      </pre>
      <CopyButton text={text}>Copy</CopyButton>
    </div>
  )
}
