import { closeSync, openSync, writeSync } from 'node:fs'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { sealedMetadata } from '../../../src/adapters/event-store/eventstoredb/sealed-metadata.js'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { serialise } from '../../../src/adapters/event-store/serialise.js'
import { sha256, systemIds } from '../../../src/adapters/system/system.js'
import type { CallWrite } from '../../../src/application/calls/record.js'
import { writeCalls } from '../../../src/application/calls/write-calls.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { keptLine } from './kept-log.js'
import type { StoredEvent } from './log.js'

const CALLS_AT_ONCE = 1000
const FIRST_POSITION = 100
const CAUSE = { correlationId: 'fill', causationId: 'fill', actor: 'admin' }

/** Writes the file of a log with calls, which takes a fraction of the time of requests to a service. */
export const keepCalls = async (
  path: string,
  calls: number,
  callOf: (n: number) => readonly CallWrite[],
): Promise<void> => {
  const bytes = new TextEncoder()
  let position = FIRST_POSITION
  let lines: string[] = []
  const append: EventStore['append'] = (stream, _, proposed) => {
    const events = serialise(stream, proposed).events.map((event, revision): StoredEvent => {
      const data = bytes.encode(event.data)
      const metadata = bytes.encode(sealedMetadata(event, undefined))
      position += data.length + metadata.length
      const { id, type } = event
      const contentType = 'application/json'
      return { id, type, contentType, data, metadata, stream, revision, position, created: Date.now() }
    })
    lines.push(keptLine({ kind: 'append', stream, events }))
    return Promise.resolve({ revision: BigInt(events.length - 1), position: BigInt(position) })
  }
  const eventStore: EventStore = { ...openInMemoryEventStore(), append }
  const write = writeCalls({ eventStore, blobs: openInMemoryBlobStore(), ids: systemIds, sha256 })

  const file = openSync(path, 'w')
  for (let first = 0; first < calls; first += CALLS_AT_ONCE) {
    const count = Math.min(CALLS_AT_ONCE, calls - first)
    await write(Array.from({ length: count }, (_, n) => callOf(first + n)).flat(), CAUSE)
    writeSync(file, lines.join(''))
    lines = []
  }
  closeSync(file)
}
