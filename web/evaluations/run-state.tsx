import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { plural, wholeNumber } from '../kit/format.js'
import { ActionFailed } from '../kit/states.js'
import { Status, type Tone } from '../kit/status.js'
import type { Run } from './figures.js'

const TONES: Readonly<Record<Run['status'], Tone>> = { running: 'running', completed: 'ok', failed: 'danger' }

export const RunStatus = ({ status }: Pick<Run, 'status'>) => <Status tone={TONES[status]}>{status}</Status>

const EVERY_MS = 1000

type State = Schemas['EvaluationStatusResponse']['status']

/** The progress of a run while the service or a client works on it, with the way to cancel it. */
export const RunProgress = ({
  projectId,
  runId,
  onEnd,
}: {
  readonly projectId: string
  readonly runId: string
  readonly onEnd?: () => void
}) => {
  const queries = useQueryClient()
  const body = { project_id: projectId, call_id: runId }
  const key = ['evaluations', 'status', projectId, runId]
  const state = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => dataOf(api.POST('/evaluations/status', { body, signal })),
    refetchInterval: ({ state: { data } }) => (isOver(data?.status) ? false : EVERY_MS),
    staleTime: 0,
  })
  const cancel = useMutation({
    mutationFn: () => dataOf(api.POST('/evaluations/cancel', { body })),
    onSettled: () => queries.invalidateQueries({ queryKey: ['evaluations'] }),
  })
  const status = state.data?.status
  const hasEnded = isOver(status)
  useEffect(() => {
    if (hasEnded) onEnd?.()
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once, when the run ends
  }, [hasEnded])
  return (
    <div className="bar" role="status" style={{ minHeight: 28 }}>
      {status?.code === 'running' && (
        <>
          <progress
            max={Math.max(1, status.total_rows)}
            value={status.completed_rows}
            aria-label="Rows that are done"
          />
          <span>
            {wholeNumber(status.completed_rows)} of {plural(status.total_rows, 'row')}
          </span>
          <Button
            size="compact-sm"
            variant="default"
            loading={cancel.isPending}
            onClick={() => cancel.mutate()}
          >
            Cancel run
          </Button>
        </>
      )}
      {status?.code === 'complete' && <Status tone="ok">completed</Status>}
      {status?.code === 'failed' && (
        <>
          <Status tone="danger">failed</Status> <span>{status.error ?? ''}</span>
        </>
      )}
      {status?.code === 'not_found' && <span>Waiting for the run …</span>}
      <ActionFailed error={cancel.error} what="Cancelling" />
    </div>
  )
}

const isOver = (status: State | undefined): boolean =>
  status?.code === 'complete' || status?.code === 'failed'
