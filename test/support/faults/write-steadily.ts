import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningService } from '../running-service.js'

export const CALLS_A_BATCH = 50

/** Writes without a break, also while the service is away; answers how many calls were acknowledged. */
export const writeSteadily = (service: RunningService, project: string) => {
  let isOver = false
  let batches = 0
  const write = async () => {
    while (!isOver) {
      const batch = callsOf(project, batches)
      const answer = await service.post(`/v2/${project}/calls/complete`, { batch }).catch(() => undefined)
      if (answer?.status === 200) batches += 1
      await sleep(answer?.status === 200 ? 20 : 100)
    }
  }
  const writing = write()
  return {
    written: () => batches * CALLS_A_BATCH,
    stop: async () => {
      isOver = true
      await writing
    },
  }
}

/** A batch is repeated with the same ids until it is acknowledged. */
const callsOf = (project: string, batch: number) =>
  Array.from({ length: CALLS_A_BATCH }, (_, i) => ({
    project_id: project,
    id: `c-${batch}-${i}`,
    trace_id: `trace-${batch}`,
    parent_id: i === 0 ? null : `c-${batch}-${Math.floor(i / 2)}`,
    op_name: 'work',
    started_at: '2026-01-01T00:00:00Z',
    ended_at: '2026-01-01T00:00:01Z',
    attributes: {},
    inputs: { text: 'x'.repeat(500) },
    summary: { usage: { small: { requests: 1, prompt_tokens: i } } },
  }))
