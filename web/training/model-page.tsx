import { Button } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { wholeNumber } from '../kit/format.js'
import { ConfirmButton } from '../kit/confirm.js'
import { ModelChat } from './model-chat.js'
import { useIdInPath, usePlace, type Place } from '../kit/place.js'
import { ShowMore } from '../kit/show-more.js'
import { ActionFailed, Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { Time } from '../kit/time.js'
import { CancelJob, hasEnded, JobState, kindOf } from './training-state.js'
import { useTitle } from '../kit/title.js'

type Job = Schemas['TrainingJobRow']
type Checkpoint = Schemas['Checkpoint']

const EVERY_MS = 3000

/** A trained model: its jobs, its checkpoints, and a chat with them. */
export const TrainedModelPage = () => {
  const place = usePlace()
  const { projectId } = place
  const name = useIdInPath('model')
  useTitle(`${name} · Training`)
  const jobs = useInfiniteQuery({
    queryKey: ['training', 'jobs', projectId, name],
    queryFn: ({ pageParam, signal }) => {
      const after = pageParam === '' ? {} : { after: pageParam }
      const query = { project_id: projectId, model: name, ...after }
      return dataOf(api.GET('/api/pages/training/jobs', { params: { query }, signal }))
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: EVERY_MS,
  })
  const model = jobs.data?.pages[0]?.model
  const rows = jobs.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <div className="page">
      <div className="bar">
        <h1>{name}</h1>
        {model !== undefined && <span className="secondary">trained from {model.base_model}</span>}
      </div>
      {jobs.isError && <Failed error={jobs.error} what="The model" onRetry={() => void jobs.refetch()} />}
      {jobs.isPending && <Loading what="the model" />}
      {model !== undefined && (
        <>
          <section aria-label="Jobs">
            <h2>Jobs</h2>
            {rows.length === 0 ? (
              <div className="secondary">None yet.</div>
            ) : (
              <Table label="Jobs" columns={jobColumns(place, name)} rows={rows} keyOf={({ id }) => id} />
            )}
            <div style={{ marginTop: 8 }}>
              <ShowMore list={jobs} />
            </div>
          </section>
          <Checkpoints projectId={projectId} model={model} />
        </>
      )}
    </div>
  )
}

const jobColumns = ({ team, project }: Place, model: string): readonly Column<Job>[] => [
  {
    label: 'State',
    width: 230,
    cell: (job) => (
      <Link to="/$team/$project/training/$model/jobs/$job" params={{ team, project, model, job: job.id }}>
        <JobState job={job} />
      </Link>
    ),
  },
  { label: 'Kind', width: 190, cell: kindOf },
  { label: 'Queued', width: 130, cell: ({ queued_at }) => <Time at={queued_at} /> },
  { label: 'Started', width: 130, cell: ({ started_at }) => <Time at={started_at} /> },
  { label: 'Ended', width: 130, cell: ({ ended_at }) => <Time at={ended_at} /> },
  { label: 'Step', width: 70, isNumber: true, cell: ({ step }) => (step === null ? '—' : wholeNumber(step)) },
  {
    label: 'Error',
    cell: ({ error_message }) => <span title={error_message ?? ''}>{error_message ?? '—'}</span>,
  },
  { label: '', width: 110, cell: (job) => !hasEnded(job) && <CancelJob id={job.id} /> },
]

const Checkpoints = ({
  projectId,
  model,
}: {
  readonly projectId: string
  readonly model: Schemas['TrainingModelRow']
}) => {
  const queries = useQueryClient()
  const path = { model_id: model.id }
  const list = useInfiniteQuery({
    // A new checkpoint is read when the model has one.
    queryKey: ['training', 'checkpoints', model.id, model.newest_step],
    queryFn: ({ pageParam, signal }) => {
      const after = pageParam === '' ? {} : { after: pageParam }
      const query = { order: 'desc' as const, limit: 100, ...after }
      return dataOf(api.GET('/v1/preview/models/{model_id}/checkpoints', { params: { path, query }, signal }))
    },
    initialPageParam: '',
    getNextPageParam: ({ has_more, last_id }) => (has_more ? last_id : undefined),
    placeholderData: (before) => before,
  })
  const remove = useMutation({
    mutationFn: (step: number) =>
      dataOf(
        api.DELETE('/v1/preview/models/{model_id}/checkpoints', {
          params: { path },
          body: { steps: [step] },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ['training'] }),
  })
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <div className="columns">
      <section aria-label="Checkpoints">
        <h2>Checkpoints</h2>
        {list.isError && (
          <Failed error={list.error} what="The checkpoints" onRetry={() => void list.refetch()} />
        )}
        <ActionFailed error={remove.error} what="Deleting" />
        {list.isSuccess && rows.length === 0 && (
          <div className="secondary">None yet. Each job that succeeds makes one.</div>
        )}
        {rows.length > 0 && (
          <Table
            label="Checkpoints"
            columns={checkpointColumns((step) => remove.mutate(step))}
            rows={rows}
            keyOf={({ id }) => id}
          />
        )}
        {list.hasNextPage && (
          <Button
            mt={8}
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            Show more
          </Button>
        )}
      </section>
      <section aria-label="Chat with the model">
        <h2>Chat</h2>
        <ModelChat
          projectId={projectId}
          name={model.name}
          baseModel={model.base_model}
          steps={rows.map(({ step }) => step)}
        />
      </section>
    </div>
  )
}

const checkpointColumns = (onDelete: (step: number) => void): readonly Column<Checkpoint>[] => [
  { label: 'Step', width: 60, isNumber: true, cell: ({ step }) => wholeNumber(step) },
  {
    label: 'Metrics',
    cell: ({ metrics }) => {
      const text = Object.entries(metrics)
        .map(([name, value]) => `${name} ${Number(value.toPrecision(5))}`)
        .join(' · ')
      return <span title={text}>{text || '—'}</span>
    },
  },
  { label: 'Made', width: 120, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    label: '',
    width: 100,
    cell: ({ step }) => (
      <ConfirmButton
        label="Delete"
        title={`Delete the checkpoint of step ${step}?`}
        onConfirm={() => onDelete(step)}
      >
        Its artifact version is deleted with it.
      </ConfirmButton>
    ),
  },
]
