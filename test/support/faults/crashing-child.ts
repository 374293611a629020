import { dialling, type Dial } from '../../../src/adapters/outgoing/guard/connect-to-any.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import type { WebhookSender } from '../../../src/kernel/ports/webhook-sender.js'
import { aliasAdded, COLLECTION } from '../dispatching.js'
import { dispatchOver } from './dispatching-over.js'
import { appendingTo, openEventLog } from './dispatching-log.js'

// Adds aliases, dispatches what they trigger, and is gone at the named point: with kill -9, of its own hand. Nothing goes
// on there; other things may, for so many milliseconds more.
const [dataDirectory = '', point = '', aliases = '1', afterMs = '0'] = process.argv.slice(2)

const crash = (): Promise<never> => {
  const kill = () => process.kill(process.pid, 'SIGKILL')
  if (afterMs === '0') kill()
  else setTimeout(kill, Number(afterMs))
  return new Promise(() => undefined)
}
const crashAt = async (here: string): Promise<void> => {
  if (here === point) await crash()
}

const crashingStore = (inner: EventStore): EventStore => ({
  ...inner,
  append: async (stream, expected, events) => {
    const { type } = events[0]!
    await crashAt(`before ${type} is written`)
    const appended = await inner.append(stream, expected, events)
    await crashAt(`after ${type} was written`)
    return appended
  },
  async *subscribeAll(range) {
    let seen = 0
    for await (const item of inner.subscribeAll(range)) {
      if (item.kind === 'event' && item.event.type === 'AliasAdded')
        await crashAt(`before alias ${(seen += 1)} is matched`)
      yield item
    }
  },
})

const crashingSender = (inner: WebhookSender): WebhookSender => ({
  send: async (message, signal) => {
    const sent = await inner.send(message, signal)
    await crashAt('with the answer in memory')
    return sent
  },
})

/** Half of the body is handed to the network, and no more. */
const crashingDial: Dial = (address, port) => {
  const socket = dialling(address, port)
  const write = socket.write.bind(socket) as (part: Uint8Array, written: () => void) => boolean
  const writeHalf = (part: unknown, ...others: unknown[]): boolean => {
    if (point !== 'in the middle of the body' || !(part instanceof Uint8Array))
      return (write as (...given: unknown[]) => boolean)(part, ...others)
    return write(part.subarray(0, part.length / 2), () => void crash())
  }
  socket.write = writeHalf
  return socket
}

const main = async (): Promise<void> => {
  const { eventStore } = openEventLog(dataDirectory)
  const store = crashingStore(eventStore)
  const dispatcher = await dispatchOver(dataDirectory, store, { dial: crashingDial, sender: crashingSender })
  await dispatcher.caughtUp
  const added = Array.from({ length: Number(aliases) }, (_, index) => aliasAdded(`v-${index}`))
  await appendingTo(store)(COLLECTION, ...added)
}

void main()
