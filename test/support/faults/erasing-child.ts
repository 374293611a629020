import { each } from '../../contract/event-store/erasing.js'
import { openPackedStore } from '../../unit/adapters/event-store/packed-store.js'
import { eventOfItself } from './packed-events.js'

/** Packs a log, appends to it, and erases its events meanwhile. Each id is printed once its event was acknowledged. */
const [path = '', left = '{}', until = '0'] = process.argv.slice(2)
const { store } = openPackedStore(path, { newest: 200, events: 16 })

const erase = async () => {
  const data = JSON.parse(left) as { erased: boolean }
  const erasures = Array.from({ length: Number(until) }, (_, at) => ({ position: BigInt(at + 1), data }))
  await store.erase!(each(erasures))
  process.stdout.write('erased\n')
}

const write = async () => {
  for (;;) {
    const event = eventOfItself()
    await store.append(`call-team/project/${event.id}`, 'none', [event])
    process.stdout.write(`${event.id}\n`)
  }
}

await Promise.all([erase(), write()])
