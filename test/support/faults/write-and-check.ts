import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningService } from '../running-service.js'
import type { Answered } from '../client.js'
import {
  assertCountedOnce,
  assertNothingLostOrInvented,
  type Entry,
  type SeenCall,
  type SeenUsage,
} from './ledger.js'

type Ledger = ReadonlyMap<string, Entry>

/** Repeats a request after each 503, as clients are told to, for at most 30 s. */
const until200 =
  (post: RunningService['post']) =>
  async (path: string, body: unknown): Promise<Answered> => {
    for (let tries = 0; ; tries += 1) {
      const answer = await post(path, body)
      if (answer.status === 200) return answer
      assert.ok(
        answer.status === 503 && tries < 60,
        `${path} answers ${answer.status}: ${answer.text.slice(0, 300)}`,
      )
      await sleep(500)
    }
  }

/** Compares what a service answers about projects with the ledgers of what was written to them. */
export const checking = (service: Pick<RunningService, 'post'>) => {
  const post = until200(service.post)

  const readCalls = async (project_id: string): Promise<readonly string[]> => {
    const sort_by = [{ field: 'id', direction: 'asc' }]
    const { text } = await post('/calls/stream_query', { project_id, sort_by })
    return text.split('\n').filter((line) => line !== '')
  }
  const readUsage = async (project_id: string): Promise<string> =>
    (await post('/trace/usage', { project_id, limit: 1_000_000 })).text

  return {
    until200: post,
    /** The lines of all calls, and the calls in them. */
    check: async (projectId: string, ledger: Ledger) => {
      const lines = await readCalls(projectId)
      const calls = lines.map((line) => JSON.parse(line) as SeenCall)
      assertNothingLostOrInvented(ledger, calls)
      assertCountedOnce(ledger, calls, JSON.parse(await readUsage(projectId)) as SeenUsage)
      return { lines, calls }
    },
    allAnswers: async (projectIds: Iterable<string>): Promise<readonly unknown[]> => {
      const answers: unknown[] = []
      for (const projectId of projectIds) answers.push(await readCalls(projectId), await readUsage(projectId))
      return answers
    },
  }
}

/** How many writes of the ledger were sent, and how many were acknowledged. */
export const countsOf = (ledger: Ledger): { readonly sent: number; readonly acknowledged: number } => {
  let sent = 0
  let acknowledged = 0
  for (const { end, startAcknowledged, endAcknowledged } of ledger.values()) {
    sent += end === null ? 1 : 2
    acknowledged += Number(startAcknowledged) + Number(endAcknowledged)
  }
  return { sent, acknowledged }
}
