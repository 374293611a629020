import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteEventStore } from '../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { openSqliteLogTree } from '../src/adapters/log-tree/sqlite-log-tree.js'
import { makeLogKeys, readLogKeys } from '../src/adapters/secrets/log-keys.js'
import { systemClock, systemIds } from '../src/adapters/system/system.js'
import { startSealing } from '../src/application/audit/sealing.js'
import type { EventStore, NewEvent } from '../src/kernel/ports/event-store.js'
import { noHealthReports } from '../src/kernel/ports/health.js'
import { median, ratio } from './support/report.js'

/** How fast is a log sealed that was not, and how much slower are appends while the log is sealed? */

const EVENTS = Number(process.env['EVENTS'] ?? 200_000)
const ROUNDS = Number(process.env['ROUNDS'] ?? 9)
const OF_ROUND = 40_000
const AT_ONCE = 64

const metadata = { correlationId: 'bench', causationId: 'bench', actor: 'bench', schemaVersion: 1 }
const anEvent = (): NewEvent => ({
  id: systemIds.next(),
  type: 'CallStarted',
  data: { project_id: 'bench/sealing', text: 'x'.repeat(900) },
  metadata,
})

const append = async (store: EventStore, count: number): Promise<void> => {
  let left = count
  const writer = async () => {
    for (; left > 0; left -= 1)
      await store.append(`call-bench/sealing/${systemIds.next()}`, 'none', [anEvent()])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, writer))
}

const secondsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
try {
  const store = openSqliteEventStore(join(directory, 'events.db'))
  makeLogKeys(join(directory, 'log-keys'), 'localhost')
  const keys = readLogKeys(join(directory, 'log-keys'))!
  const sealing = (name: string) =>
    startSealing({
      eventStore: store,
      tree: openSqliteLogTree(join(directory, name)),
      keys,
      clock: systemClock,
      log: { info: () => undefined },
      health: noHealthReports,
    })
  await append(store, EVENTS)
  const rates: number[] = []
  for (let round = 0; round < 3; round += 1)
    rates.push(EVENTS / (await secondsOf(async () => (await sealing(`alone-${round}.db`)).stop())))
  ratio(
    'events sealed a second, alone',
    median(rates),
    '>= 100000',
    median(rates) >= 100_000,
    `${EVENTS} events of 1 KB`,
  )

  const ratios: number[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const without = await secondsOf(() => append(store, OF_ROUND))
    await (await sealing('while.db')).stop()
    const withSealing = await secondsOf(async () => {
      const running = await sealing('while.db')
      await append(store, OF_ROUND)
      await running.stop()
    })
    if (round > 0) ratios.push(without / withSealing)
  }
  const middle = median(ratios)
  ratio('appends with sealing ÷ without', middle, '>= 0.97', middle >= 0.97, `median of ${ROUNDS}`)
  await store.close()
} finally {
  await rm(directory, { recursive: true, force: true })
}
