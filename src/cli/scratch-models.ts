import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedClickHouse } from '../adapters/clickhouse/embedded.js'
import type { BlobStore } from '../domain/ports/blobs.js'
import type { Position, RecordedEvent } from '../domain/ports/event-store.js'
import { projections } from '../projections/all.js'
import { digestsOf, type ModelDigest } from '../projections/digests/queries.js'
import { migrate } from '../projections/migrate.js'
import { writeRows } from '../projections/runtime/write-rows.js'

/** Read models that are made from a log and thrown away. */
export interface ScratchModels {
  /** Takes events in log order; while they are written, the next can be read. Answers those that make no rows. */
  add(events: readonly RecordedEvent[]): Promise<readonly string[]>
  digestsAt(position: Position): Promise<readonly ModelDigest[]>
  remove(): Promise<void>
}

/** In an embedded engine of their own: one a process. */
export const scratchModels = async (blobs: BlobStore): Promise<ScratchModels> => {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-verify-'))
  const clickHouse = await openEmbeddedClickHouse(directory)
  await migrate(clickHouse.writer)
  return {
    add: async (events) => {
      const refused = await writeRows({ clickHouse: clickHouse.writer, blobs, projections }, events)
      return refused.map(({ event, reason }) => `position ${event.position}: it makes no rows: ${reason}`)
    },
    digestsAt: (position) => digestsOf(clickHouse.reader, position),
    remove: async () => {
      await clickHouse.close()
      // A thread of the engine may still be writing there.
      await rm(directory, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
