import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import type { RecordedEvent } from '../../../../src/kernel/ports/event-store.js'
import { collect, idsOf } from '../../../contract/event-store/collect.js'
import { startChild } from './child-program.js'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'

const ROUNDS = 2

describe('a store in SQLite whose process is killed while 32 writers append', () => {
  let directory: TemporaryDirectory
  let path: string
  beforeEach(async () => {
    directory = await temporaryDirectory()
    path = join(directory.path, 'events.db')
  })
  afterEach(() => directory.remove())

  const appendAndKill = async () => {
    const child = await startChild('append-until-killed.ts', path)
    await child.firstLine
    await sleep(randomInt(100, 400))
    return (await child.kill()).flatMap((line) => line.split(' '))
  }

  const readAgain = async () => {
    const store = openSqliteEventStore(path)
    const events = await collect(store.readAll())
    await store.close()
    return events
  }

  it('has every acknowledged event, no gap in a stream and no half append', async () => {
    const acknowledged: string[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      acknowledged.push(...(await appendAndKill()))

      const events = await readAgain()

      const stored = new Set(idsOf(events))
      assert.deepEqual(
        acknowledged.filter((id) => !stored.has(id)),
        [],
      )
      for (const revisions of revisionsByStream(events)) {
        assert.ok(revisions.every((revision, index) => revision === BigInt(index)))
        assert.equal(revisions.length % 3, 0)
      }
    }
  })
})

const revisionsByStream = (events: readonly RecordedEvent[]) => {
  const streams = new Map<string, bigint[]>()
  for (const { stream, revision } of events) {
    const revisions = streams.get(stream)
    if (revisions === undefined) streams.set(stream, [revision])
    else revisions.push(revision)
  }
  return streams.values()
}
