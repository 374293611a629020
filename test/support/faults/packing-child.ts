import { openPackedStore } from '../../unit/adapters/event-store/packed-store.js'
import { eventOfItself } from './packed-events.js'

const WRITERS = 4

/** Packs a log without pauses, and appends to it. Each id is printed once its event was acknowledged. */
const [path = ''] = process.argv.slice(2)
const { store } = openPackedStore(path, { newest: 200, events: 16 })

const write = async () => {
  for (;;) {
    const event = eventOfItself()
    await store.append(`call-team/project/${event.id}`, 'none', [event])
    process.stdout.write(`${event.id}\n`)
  }
}

await Promise.all(Array.from({ length: WRITERS }, write))
