import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { arbitraryEvents, arbitraryStream } from '../../../contract/event-store/arbitrary-events.js'
import { idsOf } from '../../../contract/event-store/collect.js'

const WRITERS = 32

const store = openSqliteEventStore(process.argv[2] ?? '')

/** Appends of three events, each printed as a line of ids after it was acknowledged. */
const write = async (stream: string) => {
  let { revision } = await store.append(stream, 'none', arbitraryEvents(3))
  for (;;) {
    const events = arbitraryEvents(3)
    revision = (await store.append(stream, revision, events)).revision
    process.stdout.write(`${idsOf(events).join(' ')}\n`)
  }
}

await Promise.all(Array.from({ length: WRITERS }, () => write(arbitraryStream())))
