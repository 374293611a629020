import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { isErased } from '../../../src/kernel/event-seal.js'
import { collect, idsOf } from '../../contract/event-store/collect.js'
import { each } from '../../contract/event-store/erasing.js'
import { COUNTS } from '../../counts.js'
import { dataOf, eventOfItself } from '../../support/faults/packed-events.js'
import { startChild } from '../../unit/adapters/event-store/child-program.js'
import {
  temporaryDirectory,
  type TemporaryDirectory,
} from '../../unit/adapters/event-store/temporary-directory.js'

const KILLS = COUNTS.packingKills
const EVENTS = 2000
const MAX_WAIT_MS = 1500
const LEFT = { erased: true }

describe('kill -9 of a process that erases events of its log', () => {
  let directory: TemporaryDirectory
  let path: string
  before(async () => {
    directory = await temporaryDirectory()
  })
  after(() => directory.remove())

  const opened = async <A>(
    use: (store: ReturnType<typeof openSqliteEventStore>) => Promise<A>,
  ): Promise<A> => {
    const store = openSqliteEventStore(path)
    try {
      return await use(store)
    } finally {
      await store.close()
    }
  }
  const write = () =>
    opened(async (store) => {
      const events = Array.from({ length: EVENTS }, eventOfItself)
      await Promise.all(events.map((event) => store.append(`call-team/project/${event.id}`, 'none', [event])))
      return idsOf(events)
    })

  for (let round = 1; round <= KILLS; round += 1)
    it(`leaves each event erased or as it was, keeps all digests, and can be repeated: round ${round}`, async () => {
      path = join(directory.path, `${round}.db`)
      const written = [...(await write())]
      const before = await opened((store) => store.readPlaces!(0n, 1_000_000))
      const left = JSON.stringify(LEFT)
      const child = await startChild(
        '../../../support/faults/erasing-child.ts',
        path,
        left,
        String(before.length),
      )
      await child.firstLine
      await sleep(Math.random() * MAX_WAIT_MS)
      const lines = await child.kill()
      written.push(...lines.filter((line) => line !== 'erased'))

      await opened(async (store) => {
        const events = await collect(store.readAll({ withSeals: true }))
        assert.deepEqual((await store.readPlaces!(0n, 1_000_000)).slice(0, before.length), before)
        const ids = new Set(idsOf(events))
        assert.deepEqual(
          written.filter((id) => !ids.has(id)),
          [],
        )
        for (const { id, data, seal, unreadable } of events)
          assert.deepEqual([data, unreadable], [isErased(seal!) ? LEFT : dataOf(id), undefined])
        const count = events.filter(({ seal }) => isErased(seal!)).length
        if (lines.includes('erased')) assert.equal(count, before.length)
        console.log(`      erased at the kill: ${count} of ${before.length}`)
        await store.erase!(each(events.map(({ position }) => ({ position, data: LEFT }))))
        assert.deepEqual([...textsIn(path)], [])
      })
    })
})

/** The beginnings of texts in the bytes of the files. */
const textsIn = (path: string): ReadonlySet<string> => {
  const files = [path, `${path}-wal`].filter(existsSync).map((file) => readFileSync(file).toString('latin1'))
  return new Set(files.flatMap((file) => file.match(/(?<id>[0-9a-f]{8}-[0-9a-f-]{27})\k<id>/g) ?? []))
}
