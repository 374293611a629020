import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { address } from '../kit/boot.js'
import { wholeNumber } from '../kit/format.js'
import { CopyButton } from '../kit/copy.js'
import { usePlace, type Place } from '../kit/place.js'
import { ShowMore } from '../kit/show-more.js'
import { Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { Time } from '../kit/time.js'
import { JobState } from './training-state.js'
import { useTitle } from '../kit/title.js'

type Model = Schemas['TrainingModelRow']

const columnsIn = ({ team, project }: Place): readonly Column<Model>[] => [
  {
    label: 'Name',
    cell: ({ name }) => (
      <Link className="strong" to="/$team/$project/training/$model" params={{ team, project, model: name }}>
        {name}
      </Link>
    ),
  },
  { label: 'Base model', width: 200, cell: ({ base_model }) => base_model },
  {
    label: 'Newest step',
    width: 110,
    isNumber: true,
    cell: ({ newest_step }) => (newest_step === null ? '—' : wholeNumber(newest_step)),
  },
  {
    label: 'Running or newest job',
    width: 240,
    cell: ({ name, job }) =>
      job === null ? (
        '—'
      ) : (
        <Link
          to="/$team/$project/training/$model/jobs/$job"
          params={{ team, project, model: name, job: job.id }}
        >
          <JobState job={job} />
        </Link>
      ),
  },
  { label: 'Jobs queued', width: 110, isNumber: true, cell: ({ jobs_queued }) => wholeNumber(jobs_queued) },
  { label: 'Last event', width: 150, cell: ({ last_event_at }) => <Time at={last_event_at} /> },
]

/** The models that a project trains, and their newest jobs. */
export const TrainingPage = () => {
  const place = usePlace()
  const { projectId } = place
  useTitle('Training')
  const models = useInfiniteQuery({
    queryKey: ['training', 'models', projectId],
    queryFn: ({ pageParam, signal }) => {
      const query = { project_id: projectId, ...(pageParam === '' ? {} : { after: pageParam }) }
      return dataOf(api.GET('/api/pages/training/models', { params: { query }, signal }))
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: 5000,
  })
  const rows = models.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <div className="page">
      <h1>Training</h1>
      {models.isError && (
        <Failed error={models.error} what="The project" onRetry={() => void models.refetch()} />
      )}
      {models.isPending && <Loading what="models" />}
      {models.isSuccess && rows.length === 0 && <FirstModel projectId={projectId} />}
      {rows.length > 0 && (
        <Table label="Models" columns={columnsIn(place)} rows={rows} keyOf={({ id }) => id} />
      )}
      <div>
        <ShowMore list={models} />
      </div>
    </div>
  )
}

const snippet = (projectId: string): string => `KEY=YOUR_API_KEY
echo '{"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}]}' > train.jsonl
FILE=$(curl -s ${address}/v1/files -H "Authorization: Bearer $KEY" -H 'OpenAI-Project: ${projectId}' \\
  -F purpose=fine-tune -F file=@train.jsonl | sed 's/.*"id": *"\\([^"]*\\)".*/\\1/')
curl ${address}/v1/fine_tuning/jobs -H "Authorization: Bearer $KEY" -H 'OpenAI-Project: ${projectId}' \\
  -H 'content-type: application/json' \\
  -d '{"model": "tiny/byte", "training_file": "'$FILE'", "suffix": "hello"}'
`

const FirstModel = ({ projectId }: { readonly projectId: string }) => {
  const text = snippet(projectId)
  return (
    <div style={{ maxWidth: 800 }}>
      <h2>No models in {projectId} yet</h2>
      <p>
        Fine-tune a model on conversations, through the API that OpenAI&apos;s clients know. The base model
        tiny/byte is built in and trains in seconds; workers train larger ones. Run this with a key of yours,
        and the model appears here.
      </p>
      <pre className="code" tabIndex={0} aria-label="Commands that train a model">
        {text}
      </pre>
      <CopyButton text={text}>Copy</CopyButton>
      <p className="secondary">
        The Python packages openai and openpipe-art train with the same service: see docs/training.md.
      </p>
    </div>
  )
}
