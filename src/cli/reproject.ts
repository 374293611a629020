import { setImmediate } from 'node:timers/promises'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogCopy, WrittenEvent } from '../adapters/event-store/sqlite/log-copy.js'
import { requireReadable } from '../kernel/unreadable-event.js'
import type { BlobStore } from '../kernel/ports/blobs.js'
import type { EventStore, RecordedEvent, Position } from '../kernel/ports/event-store.js'
import { type ModelDigest, digestsOf } from '../projections/audit/queries.js'
import { eventChecks, recordedEvent } from './check-event.js'
import { logDigest, pagesOf } from './log-digest.js'
import { openEmbeddedClickHouse } from '../adapters/clickhouse/embedded.js'
import { projections } from '../projections/all.js'
import { migrate } from '../projections/migrate.js'
import { insertBatch } from '../projections/runtime/insert-batch.js'
import { MAX_BATCH, sizeOf } from '../projections/runtime/lane.js'

/** The result of checking and projecting a log. */
export interface Reprojection {
  readonly events: number
  /** What is wrong with events, each with its position. */
  readonly errors: readonly string[]
  /** The SHA-256 of the log up to the requested position, and the number of events up to there. */
  readonly log: string
  readonly logEvents: number
  readonly models: readonly ModelDigest[]
}

/** The positions of the digests of the log and of the read models. */
interface UpTo {
  readonly log: number
  readonly models: number
}

/** Checks every event of a log and projects it into temporary read models. Reads on while rows are written. */
export const reproject = async (
  copy: LogCopy,
  blobs: BlobStore,
  upTo: UpTo,
  onEvent: (written: WrittenEvent) => void,
  note: (events: number, part: number) => void,
): Promise<Reprojection> => {
  const models = await temporaryReadModels(copy, blobs)
  try {
    const check = eventChecks(blobs)
    const digest = logDigest()
    const end = copy.last()?.position ?? 0
    const errors: string[] = []
    let events = 0
    let batch: RecordedEvent[] = []
    let characters = 0
    let writing: Promise<unknown> = Promise.resolve()

    const write = async () => {
      await writing
      const full = batch
      batch = []
      characters = 0
      writing = models.add(full).then((refused) => errors.push(...refused))
      // Awaited before the next batch. Until then a failure must not be an unhandled rejection.
      writing.catch(() => undefined)
    }

    for (const page of pagesOf(copy)) {
      for (const written of page) {
        const checked = await check(written)
        onEvent(written)
        for (const one of checked.errors) errors.push(`position ${written.position}: ${one}`)
        if (written.position <= upTo.log) digest.add(written)
        events += 1
        if (checked.event === undefined) continue
        batch.push(checked.event)
        characters += sizeOf(checked.event)
      }
      if (batch.length >= MAX_BATCH.events || characters >= MAX_BATCH.characters) await write()
      await setImmediate()
      note(events, (page.at(-1)?.position ?? 0) / end)
    }
    await write()
    await writing
    const digests = await models.digestsAt(BigInt(upTo.models))
    return { events, errors, log: digest.digest(), logEvents: digest.events(), models: digests }
  } finally {
    await models.remove()
  }
}

/** Read models that exist for one verification. */
interface TemporaryReadModels {
  /** Projects events in log order. Returns an error for each event that cannot be projected. */
  add(events: readonly RecordedEvent[]): Promise<readonly string[]>
  digestsAt(position: Position): Promise<readonly ModelDigest[]>
  remove(): Promise<void>
}

/** Opens an embedded engine in a temporary directory. A process can have only one. */
const temporaryReadModels = async (copy: LogCopy, blobs: BlobStore): Promise<TemporaryReadModels> => {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-verify-'))
  const clickHouse = await openEmbeddedClickHouse(directory)
  await migrate(clickHouse.writer)
  const writing = { clickHouse: clickHouse.writer, blobs, projections, eventStore: streamsOf(copy) }
  return {
    add: async (events) => {
      const refused = await insertBatch(writing, events)
      return refused.map(({ event, reason }) => `position ${event.position}: cannot be projected: ${reason}`)
    },
    digestsAt: (position) => digestsOf(clickHouse.reader, position),
    remove: async () => {
      await clickHouse.close()
      // A thread of the engine may still write there.
      await rm(directory, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

const streamsOf = (copy: LogCopy): Pick<EventStore, 'readStream'> => ({
  async *readStream(stream) {
    for (const written of copy.stream(stream)) {
      const event = recordedEvent(written)
      requireReadable(event)
      yield event
    }
  },
})
