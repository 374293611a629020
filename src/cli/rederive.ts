import { setImmediate } from 'node:timers/promises'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogCopy } from '../adapters/event-store/sqlite/log-copy.js'
import type { BlobStore } from '../domain/ports/blobs.js'
import type { RecordedEvent, Position } from '../domain/ports/event-store.js'
import { type ModelDigest, digestsOf } from '../projections/digests/queries.js'
import { sizeOf } from '../projections/runtime/gathering.js'
import { eventChecks } from './check-event.js'
import { logDigest, pagesOf } from './log-digest.js'
import { openEmbeddedClickHouse } from '../adapters/clickhouse/embedded.js'
import { projections } from '../projections/all.js'
import { migrate } from '../projections/migrate.js'
import { writeRows } from '../projections/runtime/write-rows.js'

/** What a log is found to be. */
export interface Rederived {
  readonly events: number
  /** What is wrong with events, each with its position. */
  readonly wrong: readonly string[]
  /** The SHA-256 of the log as far as it was asked for, and how many events that is. */
  readonly log: string
  readonly logEvents: number
  readonly models: readonly ModelDigest[]
}

/** Up to which positions the log is told, and as of which the read models. */
interface UpTo {
  readonly log: number
  readonly models: number
}

const BATCH_EVENTS = 20_000
const BATCH_CHARACTERS = 16 * 1024 * 1024

/** Reads and checks every event of a log, and makes the read models from it: while rows are written, it reads on. */
export const rederived = async (
  copy: LogCopy,
  blobs: BlobStore,
  upTo: UpTo,
  note: (events: number, part: number) => void,
): Promise<Rederived> => {
  const models = await scratchModels(blobs)
  try {
    const check = eventChecks(blobs)
    const digest = logDigest()
    const end = copy.last()?.position ?? 0
    const wrong: string[] = []
    let events = 0
    let batch: RecordedEvent[] = []
    let characters = 0
    let writing: Promise<unknown> = Promise.resolve()

    const write = async () => {
      await writing
      const full = batch
      batch = []
      characters = 0
      writing = models.add(full).then((refused) => wrong.push(...refused))
      // It is awaited before the next batch: until then nobody else looks whether it failed.
      writing.catch(() => undefined)
    }

    for (const page of pagesOf(copy)) {
      for (const written of page) {
        const checked = await check(written)
        for (const one of checked.wrong) wrong.push(`position ${written.position}: ${one}`)
        if (written.position <= upTo.log) digest.add(written)
        events += 1
        if (checked.event === undefined) continue
        batch.push(checked.event)
        characters += sizeOf(checked.event)
      }
      if (batch.length >= BATCH_EVENTS || characters >= BATCH_CHARACTERS) await write()
      await setImmediate()
      note(events, (page.at(-1)?.position ?? 0) / end)
    }
    await write()
    await writing
    const told = await models.digestsAt(BigInt(upTo.models))
    return { events, wrong, log: digest.digest(), logEvents: digest.events(), models: told }
  } finally {
    await models.remove()
  }
}

/** Read models that are made from a log and thrown away. */
interface ScratchModels {
  /** Takes events in log order; while they are written, the next can be read. Answers those that make no rows. */
  add(events: readonly RecordedEvent[]): Promise<readonly string[]>
  digestsAt(position: Position): Promise<readonly ModelDigest[]>
  remove(): Promise<void>
}

/** In an embedded engine of their own: one a process. */
const scratchModels = async (blobs: BlobStore): Promise<ScratchModels> => {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-verify-'))
  const clickHouse = await openEmbeddedClickHouse(directory)
  await migrate(clickHouse.writer)
  return {
    add: async (events) => {
      const refused = await writeRows({ clickHouse: clickHouse.writer, blobs, projections }, events)
      return refused.map(({ event, reason }) => `position ${event.position}: cannot be projected: ${reason}`)
    },
    digestsAt: (position) => digestsOf(clickHouse.reader, position),
    remove: async () => {
      await clickHouse.close()
      // A thread of the engine may still be writing there.
      await rm(directory, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
