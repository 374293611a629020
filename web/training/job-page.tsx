import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { plural, significantNumber, wholeNumber } from '../kit/format.js'
import { Chart } from '../kit/chart.js'
import { Facts, type Fact } from '../kit/facts.js'
import { EventList } from './event-list.js'
import { useJobEvents, type JobEvents } from './job-events.js'
import { JsonView } from '../kit/json-view.js'
import { useIdInPath, usePlace } from '../kit/place.js'
import { Failed, Loading } from '../kit/states.js'
import { thin, type Series } from '../kit/thin.js'
import { Time } from '../kit/time.js'
import { CancelJob, hasEnded, JobState, kindOf } from './training-state.js'
import { useTitle } from '../kit/title.js'

type Job = Schemas['TrainingJobDetail']

/** A training job: its state, the curves of its metrics and its events, live while it runs. */
export const TrainingJobPage = () => {
  const { team, project, projectId } = usePlace()
  const id = useIdInPath('job')
  const inPath = useIdInPath('model')
  useTitle(`Job ${id}`)
  const job = useQuery({
    queryKey: ['training', 'job', projectId, id],
    queryFn: ({ signal }) => {
      const query = { project_id: projectId, job_id: id }
      return dataOf(api.GET('/api/pages/training/job', { params: { query }, signal }))
    },
    refetchInterval: ({ state: { data } }) => (data !== undefined && hasEnded(data) ? false : 2000),
  })
  const model = job.data?.model ?? inPath
  return (
    <div className="page">
      <div className="bar">
        <h1>
          <Link to="/$team/$project/training/$model" params={{ team, project, model }}>
            {model}
          </Link>{' '}
          / job
        </h1>
        {job.isSuccess && <JobState job={job.data} />}
        <span className="spacer" />
        {job.isSuccess && !hasEnded(job.data) && <CancelJob id={id} />}
      </div>
      {job.isError && <Failed error={job.error} what="The job" onRetry={() => void job.refetch()} />}
      {job.isPending && <Loading what="the job" />}
      {job.isSuccess && (
        <>
          <JobFacts job={job.data} />
          <Progress job={job.data} onEnd={() => void job.refetch()} />
        </>
      )}
    </div>
  )
}

const ErrorText = ({ job: { error_message } }: { readonly job: Job }) =>
  error_message === null ? '—' : <div className="message-text error-text">{error_message}</div>

/** All rows are there from the start, so that nothing moves while the job runs. */
const JobFacts = ({ job }: { readonly job: Job }) => {
  const facts: readonly Fact[] = [
    ['Id', <span className="mono">{job.id}</span>],
    ['Kind', kindOf(job)],
    ['Base model', job.base_model],
    ['Queued', <Time at={job.queued_at} />],
    ['Before it', job.before === null ? '—' : plural(job.before, 'job')],
    ['Started', <Time at={job.started_at} />],
    ['Worker', job.worker ?? '—'],
    ['Ended', <Time at={job.ended_at} />],
    ['Error', <ErrorText job={job} />],
    ['Checkpoint', job.step === null ? '—' : `step ${job.step}`],
    ...(job.training_data_url === null
      ? []
      : [['Data', <span className="mono">{job.training_data_url}</span>] as const]),
  ]
  return <Facts facts={facts} />
}

const Progress = ({ job, onEnd }: { readonly job: Job; readonly onEnd: () => void }) => {
  const read = useJobEvents(job.id)
  const last = read.events.at(-1)?.type
  const isEnd = last === 'training_ended' || last === 'training_failed'
  useEffect(() => {
    if (isEnd && !hasEnded(job)) onEnd()
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once, when the last event arrives
  }, [isEnd])
  return (
    <>
      {read.error !== undefined && <Failed error={read.error} what="New events" />}
      <div className="columns">
        <section aria-label="Metrics">
          <h2>Metrics</h2>
          <Reading job={job} read={read} />
          <div className="curves">
            {namesOf(read).map((name) => (
              <Curve key={name} name={name} series={read.series.get(name)!} />
            ))}
          </div>
        </section>
        <div className="page" style={{ padding: 0 }}>
          <section aria-label="Events">
            <h2>Events</h2>
            <EventList events={read.events} />
          </section>
          <section aria-label="Configuration">
            <h2>Configuration</h2>
            <JsonView text={JSON.stringify(job.config)} label="Configuration" />
          </section>
        </div>
      </div>
    </>
  )
}

/** A metric over the gradient steps. */
const Curve = ({ name, series }: { readonly name: string; readonly series: Series }) => {
  const [x, values] = thin(series)
  const last = series.y.at(-1)
  return (
    <Chart
      label={name}
      kind="lines"
      x={x}
      xLabel="gradient step"
      formatX={wholeNumber}
      series={[{ label: name, values, figure: last === undefined ? '—' : significantNumber(last) }]}
      format={significantNumber}
    />
  )
}

/** The loss first, then by name. */
const namesOf = ({ series }: JobEvents): readonly string[] =>
  [...series.keys()].sort((one, other) => (one === 'loss' ? -1 : other === 'loss' ? 1 : one < other ? -1 : 1))

const Reading = ({ job, read }: { readonly job: Job; readonly read: JobEvents }) => {
  const all = Math.max(job.gradient_steps, read.steps)
  return (
    <div role="status" className="secondary">
      {read.isCaughtUp
        ? read.steps === 0
          ? hasEnded(job)
            ? 'The job reported no gradient steps.'
            : 'Waiting for the first gradient step …'
          : plural(read.steps, 'gradient step')
        : `Reading events: ${plural(read.steps, 'gradient step')} of ${all} …`}
      {!read.isCaughtUp && <progress max={Math.max(1, all)} value={read.steps} aria-label="Events read" />}
    </div>
  )
}
