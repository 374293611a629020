import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { duration, plural, wholeNumber } from '../kit/format.js'
import { Facts, type Fact } from '../kit/facts.js'
import { JsonView } from '../kit/json-view.js'
import { useIdInPath, usePlace, type Place } from '../kit/place.js'
import { ShowMore } from '../kit/show-more.js'
import { Failed, Loading } from '../kit/states.js'
import { Time } from '../kit/time.js'
import { useTitle } from '../kit/title.js'
import { RunCharts } from './charts.js'
import { ranFor, RunState } from './run-state.js'

type Run = Schemas['Run']

const EVERY_MS = 5000

/** A run: its facts, configuration and results, the charts of its metrics, and what its program printed. */
export const RunPage = () => {
  const place = usePlace()
  const { team, project, projectId } = place
  const id = useIdInPath('run')
  const path = { entity: team, project, run: id }
  const run = useQuery({
    queryKey: ['runs', 'run', projectId, id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/runs/{entity}/{project}/{run}', { params: { path }, signal })),
    refetchInterval: ({ state: { data } }) => data?.state === 'running' && EVERY_MS,
  })
  useTitle(`${run.data?.name ?? id} · Runs`)
  return (
    <div className="page">
      <div className="bar">
        <h1>{run.data?.name ?? id}</h1>
        {run.isSuccess && <RunState state={run.data.state} />}
      </div>
      {run.isError && <Failed error={run.error} what="The run" onRetry={() => void run.refetch()} />}
      {run.isPending && <Loading what="the run" />}
      {run.isSuccess && (
        <>
          <RunFacts run={run.data} place={place} />
          <RunCharts
            projectId={projectId}
            runs={[{ id, name: run.data.name }]}
            isLive={run.data.state === 'running'}
          >
            <div className="columns">
              <Values label="Configuration" of={run.data.config} />
              <Values label="Summary" of={run.data.summary} />
            </div>
            <Console path={path} isLive={run.data.state === 'running'} />
          </RunCharts>
        </>
      )}
    </div>
  )
}

const OPTIONAL = [
  ['Group', 'group'],
  ['Kind', 'job_type'],
  ['Notes', 'notes'],
  ['Program', 'program'],
  ['Host', 'host'],
  ['Commit', 'commit'],
] as const

const RunFacts = ({ run, place }: { readonly run: Run; readonly place: Place }) => {
  const { details } = run
  const facts: readonly Fact[] = [
    ['Id', <span className="mono">{run.id}</span>],
    ['User', run.user],
    ['Started', <Time at={run.started_at} />],
    ['Ended', <Time at={run.ended_at} />],
    ['Ran for', duration(ranFor(run))],
    ['Rows of history', wholeNumber(run.history_lines)],
    ...OPTIONAL.flatMap(([label, name]) => {
      const value = details[name]
      return value == null ? [] : [[label, value] as const]
    }),
    ...(details.tags?.length ? [['Tags', details.tags.join(', ')] as const] : []),
    ...(run.forked_from === null
      ? []
      : [['Forked from', <Fork key="fork" from={run.forked_from} place={place} />] as const]),
  ]
  return <Facts facts={facts} />
}

const Fork = ({
  from: { run_id, step },
  place: { team, project },
}: {
  readonly from: NonNullable<Run['forked_from']>
  readonly place: Place
}) => (
  <>
    <Link to="/$team/$project/runs/$run" params={{ team, project, run: run_id }}>
      {run_id}
    </Link>{' '}
    after step {wholeNumber(step)}
  </>
)

const Values = ({ label, of }: { readonly label: string; readonly of: object }) => (
  <section aria-label={label}>
    <h2>{label}</h2>
    {Object.keys(of).length === 0 ? (
      <div className="secondary">Nothing.</div>
    ) : (
      <JsonView text={JSON.stringify(of)} label={label} />
    )}
  </section>
)

const LINES = 500

const Console = ({
  path,
  isLive,
}: {
  readonly path: { readonly entity: string; readonly project: string; readonly run: string }
  readonly isLive: boolean
}) => {
  const lines = useInfiniteQuery({
    queryKey: ['runs', 'console', path],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: LINES, ...(pageParam === '' ? {} : { after: pageParam }) }
      return dataOf(
        api.GET('/api/runs/{entity}/{project}/{run}/console', { params: { path, query }, signal }),
      )
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: isLive && EVERY_MS,
  })
  const rows = lines.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <section aria-label="Console">
      <h2>Console</h2>
      {lines.isError && (
        <Failed error={lines.error} what="The console" onRetry={() => void lines.refetch()} />
      )}
      {lines.isSuccess && rows.length === 0 && <div className="secondary">Nothing was printed.</div>}
      {rows.length > 0 && (
        <pre
          className="code"
          tabIndex={0}
          aria-label={plural(rows.length, 'line')}
          style={{ maxHeight: 480, overflow: 'auto' }}
        >
          {rows.map(({ line }) => line).join('\n')}
        </pre>
      )}
      <ShowMore list={lines} />
    </section>
  )
}
