import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { plural, wholeNumber } from '../kit/format.js'
import { ConfirmButton } from '../kit/confirm.js'
import { ActionFailed } from '../kit/states.js'
import { Status, type Tone } from '../kit/status.js'

type Job = Schemas['TrainingJobRow']

const TONES: Readonly<Record<Job['state'], Tone>> = {
  queued: 'plain',
  running: 'running',
  succeeded: 'ok',
  failed: 'danger',
  cancelled: 'warn',
}

export const hasEnded = ({ state }: Pick<Job, 'state'>): boolean => state !== 'queued' && state !== 'running'

export const kindOf = ({ kind }: Pick<Job, 'kind'>): string =>
  kind === 'rl' ? 'reinforcement learning' : 'fine-tuning'

/** The state of a job, while it runs with its gradient steps. */
export const JobState = ({ job }: { readonly job: Job }) => (
  <>
    <Status tone={TONES[job.state]}>{job.state}</Status>
    {job.state === 'running' && <span className="secondary"> {progressOf(job)}</span>}
  </>
)

const progressOf = ({ gradient_steps, expected_steps }: Job): string =>
  expected_steps === null || expected_steps < gradient_steps
    ? plural(gradient_steps, 'step')
    : `${wholeNumber(gradient_steps)} of ${plural(expected_steps, 'step')}`

export const CancelJob = ({ id }: { readonly id: string }) => {
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: () =>
      dataOf(api.POST('/v1/preview/training-jobs/{job_id}/cancel', { params: { path: { job_id: id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ['training'] }),
  })
  return (
    <>
      <ConfirmButton
        label="Cancel job"
        title="Cancel job?"
        loading={cancel.isPending}
        onConfirm={() => cancel.mutate()}
      >
        It makes no checkpoint, and cannot be resumed.
      </ConfirmButton>
      <ActionFailed error={cancel.error} what="Cancelling" />
    </>
  )
}
