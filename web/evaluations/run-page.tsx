import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { HistoryLink } from '../history/history-link.js'
import { api, ApiError, dataOf } from '../kit/api.js'
import { AppLink } from '../kit/app-link.js'
import { duration, wholeNumber } from '../kit/format.js'
import { Name } from '../kit/marked.js'
import { useIdInPath, usePlace, type Place } from '../kit/place.js'
import { Failed, Loading } from '../kit/states.js'
import { Time } from '../kit/time.js'
import { useTitle } from '../kit/title.js'
import { runName, type Run } from './figures.js'
import { Rescore } from './rescore.js'
import { RunProgress, RunStatus } from './run-state.js'
import { RunRows } from './run-rows.js'
import { RunCost } from './run-table.js'
import { ScoreFigures, useRunScores } from './score-figures.js'

const EVERY_MS = 3000

/** An evaluation run: its figures, the figures of each score, and its rows. */
export const EvaluationRunPage = () => {
  const { team, project, projectId } = usePlace()
  const runId = useIdInPath('run')
  const queries = useQueryClient()
  const found = useQuery({
    queryKey: ['evaluations', 'run', projectId, runId],
    queryFn: async ({ signal }) => {
      const body = { project_id: projectId, evaluation_run_ids: [runId], limit: 1 }
      const [run] = (await dataOf(api.POST('/api/pages/evaluations', { body, signal }))).rows
      if (run === undefined) throw new ApiError(404, 'Evaluation run not found.', '', undefined)
      return run
    },
    refetchInterval: ({ state: { data } }) => (data?.status === 'running' ? EVERY_MS : false),
  })
  const [isRescoring, setRescoring] = useState(false)
  const run = found.data
  useTitle(run === undefined ? 'Evaluation run' : runName(run))
  if (run === undefined)
    return (
      <div className="page">
        {found.isError ? (
          <Failed error={found.error} what="The run" onRetry={() => void found.refetch()} />
        ) : (
          <Loading what="the run" />
        )}
      </div>
    )
  return (
    <div className="page">
      <div className="bar">
        <h1>
          <Name text={runName(run)} />
        </h1>
        <RunStatus status={run.status} />
        <span className="spacer" />
        <HistoryLink object={run.id} />
        <Link
          to="/$team/$project/traces/$trace"
          params={{ team, project, trace: run.trace_id }}
          search={{ call: run.id }}
        >
          Trace
        </Link>
        <AppLink href={`/${team}/${project}/evaluations?runs=${encodeURIComponent(run.id)}`}>
          Compare with …
        </AppLink>
        <Button size="compact-sm" onClick={() => setRescoring(true)}>
          Rescore
        </Button>
      </div>
      {isRescoring && <Rescore run={run} onClose={() => setRescoring(false)} />}
      {run.status === 'running' && (
        <RunProgress
          projectId={projectId}
          runId={run.id}
          onEnd={() => void queries.invalidateQueries({ queryKey: ['evaluations'] })}
        />
      )}
      {run.exception !== null && (
        <pre className="notice mono" data-tone="danger" style={{ margin: 0, whiteSpace: 'pre-wrap' }}>
          {run.exception}
        </pre>
      )}
      <Facts run={run} place={{ team, project }} />
      <Scores run={run} />
    </div>
  )
}

/** The rows follow the figures, so that these do not move them. */
const Scores = ({ run }: { readonly run: Run }) => {
  const { projectId } = usePlace()
  const scores = useRunScores(projectId, run)
  if (scores.isError)
    return <Failed error={scores.error} what="The scores" onRetry={() => void scores.refetch()} />
  if (scores.isPending) return <Loading what="scores" />
  return (
    <>
      <ScoreFigures run={run} scores={scores.data} />
      <RunRows run={run} fields={scores.data.fields} />
    </>
  )
}

const Facts = ({ run, place }: { readonly run: Run; readonly place: Place }) => (
  <dl className="run-facts">
    <div>
      <dt>Evaluation</dt>
      <dd>
        <RefLink refText={run.evaluation} name={run.evaluation_name} place={place} />
      </dd>
    </div>
    <div>
      <dt>Model</dt>
      <dd>
        <RefLink refText={run.model} name={run.model_name} place={place} />
      </dd>
    </div>
    <div>
      <dt>Dataset</dt>
      <dd>
        <RefLink refText={run.dataset ?? ''} name={run.dataset_name ?? ''} place={place} />
      </dd>
    </div>
    <div>
      <dt>Rows</dt>
      <dd>{wholeNumber(run.rows)}</dd>
    </div>
    <div>
      <dt>Cost</dt>
      <dd>
        <RunCost run={run} />
      </dd>
    </div>
    <div>
      <dt>Tokens</dt>
      <dd>{run.tokens === null ? 'unknown' : wholeNumber(run.tokens)}</dd>
    </div>
    <div>
      <dt>Mean latency</dt>
      <dd>{run.latency === null ? '—' : duration(Math.round(run.latency * 1e6))}</dd>
    </div>
    <div>
      <dt>Started</dt>
      <dd>
        <Time at={run.started_us / 1000} />
        {run.duration_us !== null && `, took ${duration(run.duration_us)}`}
      </dd>
    </div>
  </dl>
)

/** A link to a version of an object of this project; other references are text. */
const RefLink = ({
  refText,
  name,
  place: { team, project },
}: {
  readonly refText: string
  readonly name: string
  readonly place: Place
}) => {
  const start = `weave:///${team}/${project}/`
  const [, object, version] = refText.startsWith(start)
    ? (/^(?:object|op)\/(.+):([^:/]+)$/.exec(refText.slice(start.length)) ?? [])
    : []
  if (object === undefined || version === undefined)
    return <span title={refText}>{name === '' ? '—' : name}</span>
  return (
    <Link
      to="/$team/$project/objects/$name/$version"
      params={{ team, project, name: object, version }}
      title={refText}
    >
      {name}
    </Link>
  )
}
