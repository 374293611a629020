import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Entry, SentEnd, SentStart } from './ledger.js'

type Post = (path: string, body: unknown) => Promise<{ readonly status: number }>

/** Over the size from which a field lies outside the log. */
const LARGE = 300 * 1024
const SMALL = 20
const CALLS_A_TRACE = 10
const CALLS_A_BATCH = 12

/** The n-th call of a worker: a trace has one root, and the others lie under it in a chain or beside each other. */
const startOf = (project_id: string, worker: string, n: number, size: number): SentStart => {
  const id = `${worker}-${n}`
  const place = n % CALLS_A_TRACE
  const parent = place % 3 === 0 ? n - place : n - 1
  return {
    project_id,
    id,
    trace_id: `${worker}-trace-${n - place}`,
    parent_id: place === 0 ? null : `${worker}-${parent}`,
    op_name: 'load',
    started_at: `2026-01-01T00:00:00.${String(n).padStart(6, '0')}Z`,
    attributes: {},
    inputs: { of: id, text: textOf(id, size) },
  }
}

const endOf = ({ project_id, id }: SentStart, n: number, size: number): SentEnd => ({
  project_id,
  id,
  ended_at: '2026-01-01T00:00:01Z',
  output: textOf(`output of ${id}`, size),
  summary: {
    usage: {
      [`model-${n % 3}`]: { requests: 1, prompt_tokens: n, completion_tokens: 7 },
      'model-of-all': { requests: 1, prompt_tokens: 1, completion_tokens: 0 },
    },
  },
})

/** Unlike any other call's. */
const textOf = (id: string, size: number): string => `${id} `.repeat(Math.ceil(size / (id.length + 1)))

/**
 * Clients that write calls until the service is gone, each one request after the other, and note in the ledger what
 * they send before they send it and what is acknowledged.
 */
export const writeUntilGone = async (
  post: Post,
  projectId: string,
  name: string,
  ledger: Map<string, Entry>,
): Promise<void> => {
  const workers = [
    ...Array.from({ length: 6 }, (_, i) => single(`${name}-single-${i}`)),
    ...Array.from({ length: 3 }, (_, i) => batched(`${name}-batch-${i}`)),
    single(`${name}-large`, LARGE),
  ]
  await Promise.all(workers.map((worker) => worker().catch(unlessGone)))

  /** Every third call of a worker may be larger. */
  function single(worker: string, larger = SMALL) {
    return async () => {
      for (let n = 0; ; n += 1) {
        const size = n % 3 === 0 ? larger : SMALL
        const entry = begun(startOf(projectId, worker, n, size))
        await send(post, '/call/start', { start: entry.start })
        entry.startAcknowledged = true
        if (n % 5 === 4) continue
        entry.end = endOf(entry.start, n, size)
        await send(post, '/call/end', { end: entry.end })
        entry.endAcknowledged = true
      }
    }
  }

  /** Starts and most ends together; the others' ends come with the next batch. */
  function batched(worker: string) {
    return async () => {
      let late: Entry[] = []
      for (let n = 0; ; n += CALLS_A_BATCH) {
        const entries = Array.from({ length: CALLS_A_BATCH }, (_, i) =>
          begun(startOf(projectId, worker, n + i, SMALL)),
        )
        const ending = [...entries.filter((_, i) => i % 4 !== 3), ...late]
        for (const entry of ending) entry.end = endOf(entry.start, n, SMALL)
        await send(post, '/call/upsert_batch', { batch: [...entries.map(startItem), ...ending.map(endItem)] })
        for (const entry of entries) entry.startAcknowledged = true
        for (const entry of ending) entry.endAcknowledged = true
        late = entries.filter((_, i) => i % 8 === 3)
      }
    }
  }

  function begun(start: SentStart): Entry {
    const entry: Entry = { start, end: null, startAcknowledged: false, endAcknowledged: false }
    ledger.set(start.id, entry)
    return entry
  }
}

const startItem = ({ start }: Entry): JsonObject => ({ mode: 'start', req: { start } })
const endItem = ({ end }: Entry): JsonObject => ({ mode: 'end', req: { end } })

/** Sends once more whatever was not acknowledged; answers how many writes that were. */
export const sendAgain = async (post: Post, ledger: ReadonlyMap<string, Entry>): Promise<number> => {
  const entries = [...ledger.values()]
  const starts = entries.filter(({ startAcknowledged }) => !startAcknowledged)
  const ends = entries.filter(({ end, endAcknowledged }) => end !== null && !endAcknowledged)
  for (const [index, entry] of starts.entries()) {
    if (index % 2 === 0) await send(post, '/call/start', { start: entry.start })
    else await send(post, '/call/upsert_batch', { batch: [startItem(entry)] })
    entry.startAcknowledged = true
  }
  for (const [index, entry] of ends.entries()) {
    if (index % 2 === 0) await send(post, '/call/end', { end: entry.end })
    else await send(post, '/call/upsert_batch', { batch: [endItem(entry)] })
    entry.endAcknowledged = true
  }
  return starts.length + ends.length
}

class NotTaken extends Error {}

const send = async (post: Post, path: string, body: unknown): Promise<void> => {
  const { status } = await post(path, body)
  if (status !== 200) throw new NotTaken(`${path} answered ${status}`)
}

/** A connection that breaks is what the load waits for. */
const unlessGone = (error: unknown): void => {
  if (error instanceof NotTaken) throw error
}
