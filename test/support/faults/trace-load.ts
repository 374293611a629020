import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestService } from '../service.js'

export const PROJECT = 'faults/clickhouse'

/** What `/trace/usage` must answer for the root of each trace that was acknowledged: tokens, by trace. */
export type Model = ReadonlyMap<string, number>

export interface TraceLoad {
  /** Traces that were acknowledged so far. */
  readonly acknowledged: Model
  /** Ends the load; throws if a write was not answered with 200. */
  readonly stop: () => Promise<void>
}

const WRITERS = 4

/** Writes small traces, one after the other by each of a few writers, until it is stopped. */
export const startTraceLoad = (service: TestService): TraceLoad => {
  const acknowledged = new Map<string, number>()
  let stopping = false

  const writer = async () => {
    while (!stopping) {
      const trace = randomUUID()
      const tokens = 1 + acknowledged.size
      const { status, text } = await service.post('/call/upsert_batch', { batch: traceOf(trace, tokens) })
      assert.equal(status, 200, text)
      acknowledged.set(trace, 2 * tokens)
      await sleep(5)
    }
  }
  const writing = Promise.all(Array.from({ length: WRITERS }, writer))
  writing.catch(() => undefined)
  return {
    acknowledged,
    stop: async () => {
      stopping = true
      await writing
    },
  }
}

/** A root and a child that ends before it, each of which used so many tokens. */
const traceOf = (trace: string, tokens: number) => {
  const child = `${trace}-child`
  const start = (id: string, parent_id: string | null) => ({
    mode: 'start',
    req: {
      start: {
        project_id: PROJECT,
        id,
        parent_id,
        trace_id: trace,
        op_name: 'op',
        started_at: '2026-01-01T00:00:00Z',
        attributes: {},
        inputs: { of: id },
      },
    },
  })
  const end = (id: string) => ({
    mode: 'end',
    req: {
      end: {
        project_id: PROJECT,
        id,
        ended_at: '2026-01-01T00:00:01Z',
        output: 'done',
        summary: { usage: { m: { requests: 1, prompt_tokens: tokens } } },
      },
    },
  })
  return [start(trace, null), start(child, trace), end(child), end(trace)]
}
