import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFileBlobStore } from '../src/adapters/blobs/file-blob-store.js'
import { openLogCopy, type LogCopy } from '../src/adapters/event-store/sqlite/log-copy.js'
import { pagesOf } from '../src/cli/log-digest.js'
import { reproject } from '../src/cli/reproject.js'
import { callEvents } from '../src/domain/calls/call.js'
import type { JsonObject } from '../src/kernel/json/json.js'
import type { RecordedEvent } from '../src/kernel/ports/event-store.js'

/** How fast a copied log is verified: its events checked, and every read model made from it anew. */
const CALLS = Number(process.env['BENCH_CALLS'] ?? 50_000)
const TEXT = 'x'.repeat(600)

const data = (type: 'CallStarted' | 'CallEnded', fields: JsonObject): JsonObject => {
  const decoded = callEvents[type].decode(fields)
  if (decoded._tag === 'Left') throw new Error(`not a ${type}`)
  return decoded.right
}

const event = (
  position: number,
  id: string,
  type: 'CallStarted' | 'CallEnded',
  of: JsonObject,
): RecordedEvent => ({
  id: `event-${position}`,
  type,
  data: data(type, { project_id: 'bench/verify', id, ...of }),
  metadata: { correlationId: id, causationId: id, actor: 'bench', schemaVersion: 1 },
  stream: `call-bench/verify/${id}`,
  revision: type === 'CallStarted' ? 0n : 1n,
  position: BigInt(position),
  recordedAt: new Date(1_767_225_600_000),
  size: 1000,
})

const aCall = (number: number): readonly RecordedEvent[] => {
  const id = `call-${number}`
  const start = { trace_id: `trace-${number >> 6}`, started_at: '2026-01-01T12:00:00Z' }
  const usage = { models: [], status_total: null }
  return [
    event(2 * number + 1, id, 'CallStarted', {
      ...start,
      trace_from: 'client',
      op_name: 'op',
      inputs: { text: TEXT },
      attributes: {},
    }),
    event(2 * number + 2, id, 'CallEnded', {
      ended_at: '2026-01-01T12:00:01Z',
      output: TEXT,
      summary: {},
      usage,
      start,
    }),
  ]
}

const seconds = async (work: () => unknown): Promise<number> => {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

const scanned = (copy: LogCopy): number => {
  let events = 0
  for (const page of pagesOf(copy))
    for (const written of page) {
      JSON.parse(written.data)
      JSON.parse(written.metadata)
      events += 1
    }
  return events
}

const ignore = () => undefined

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
try {
  const copy = openLogCopy(join(directory, 'events.db'))
  for (let number = 0; number < CALLS; number += 1000)
    copy.write(Array.from({ length: 1000 }, (_, at) => aCall(number + at)).flat())
  await copy.sync()
  const blobs = openFileBlobStore(join(directory, 'blobs'))
  const end = 2 * CALLS
  const scan = end / (await seconds(() => scanned(copy)))
  const verified =
    end / (await seconds(() => reproject(copy, blobs, { log: end, models: end }, ignore, ignore)))
  copy.close()
  console.log(
    `verify, events of 1 KB: ${Math.round(verified)} events/s, ${(verified / scan).toFixed(3)} of reading and ` +
      `parsing them alone (${Math.round(scan)} events/s)`,
  )
} finally {
  await rm(directory, { recursive: true, force: true })
}
