import { openInMemoryBlobStore } from '../../src/adapters/blobs/in-memory-blob-store.js'
import { openSqliteEventStore } from '../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { systemIds, sha256 } from '../../src/adapters/system/system.js'
import { endCall, startCall } from '../../src/application/calls/record.js'
import { writeCalls } from '../../src/application/calls/write-calls.js'
import type { Instant } from '../../src/kernel/codec/instant.js'

const CAUSE = { correlationId: 'bench', causationId: 'bench', actor: 'admin' }
const PROJECT = 'bench/rebuild'
const CALLS_A_TRACE = 100
const CALLS_AT_ONCE = 500
const STARTED = '2026-01-01T00:00:00.000000Z' as Instant
const ENDED = '2026-01-01T00:00:01.000000Z' as Instant

/** Writes a log of calls, each a start and an end; answers how many bytes of JSON it has. */
export const writeCallEvents = async (path: string, events: number): Promise<number> => {
  const eventStore = openSqliteEventStore(path)
  const ports = { eventStore, blobs: openInMemoryBlobStore(), ids: systemIds, sha256 }
  for (let from = 0; from < events / 2; from += CALLS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(CALLS_AT_ONCE, events / 2 - from) }, (_, i) => from + i)
    await writeCalls(ports)(numbers.map(startOf), CAUSE)
    await writeCalls(ports)(numbers.map(endOf), CAUSE)
  }
  let bytes = 0
  for await (const { size } of eventStore.readAll()) bytes += size
  await eventStore.close()
  return bytes
}

const idOf = (n: number): string => `call-${n}`

/** Words that differ from call to call. */
const textOf = (n: number, length: number): string =>
  Array.from({ length: length / 8 }, (_, i) =>
    ((n * 7919 + i * 104_729) % 0xfffffff).toString(16).padStart(7, '0'),
  ).join(' ')

const startOf = (n: number) =>
  startCall(idOf(n), {
    project_id: PROJECT,
    op_name: `op-${n % 10}`,
    trace_id: `trace-${Math.floor(n / CALLS_A_TRACE)}`,
    parent_id: n % CALLS_A_TRACE === 0 ? null : idOf(n - 1),
    started_at: STARTED,
    inputs: { question: textOf(n, 560) },
  })

const endOf = (n: number) =>
  endCall({
    project_id: PROJECT,
    id: idOf(n),
    ended_at: ENDED,
    output: textOf(n + 1, 480),
    summary: { usage: { 'some-model': { requests: 1, prompt_tokens: n % 1000, completion_tokens: 17 } } },
    exception: null,
    wb_run_step_end: null,
  })
