import { readConfig } from '../../../src/config.js'
import { aliasAdded, COLLECTION } from '../dispatching.js'
import { openEventLog } from './dispatching-log.js'
import { dispatchOver } from './dispatching-over.js'

/**
 * The dispatcher over the embedded log, in a process that also writes what triggers it, until it is told to stop. It tells
 * how many events it has written.
 */
const main = async (): Promise<void> => {
  const { dataDirectory } = readConfig()
  const { eventStore, append } = openEventLog(dataDirectory)
  const dispatcher = await dispatchOver(dataDirectory, eventStore)
  let isWriting = true
  const write = async () => {
    for (let count = 0; isWriting; count += 1) {
      const aliases = ['', 'b', 'c', 'd'].map((letter) => aliasAdded(`${process.pid}-${count}${letter}`))
      await append(COLLECTION, ...aliases)
      process.stdout.write(`${aliases.length * (count + 1)}\n`)
    }
  }
  process.stdin.on('data', (told) => {
    if (String(told).includes('write')) void write()
    if (String(told).includes('quiet')) isWriting = false
    if (String(told).includes('stop'))
      void dispatcher
        .stop()
        .then(() => eventStore.close())
        .then(() => process.exit(0))
  })
  await dispatcher.caughtUp
  process.stdout.write('ready\n')
}

void main()
