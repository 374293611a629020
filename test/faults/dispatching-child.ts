import { openEventLog } from './dispatching-log.js'
import { jsonLog } from '../../src/adapters/log/json-log.js'
import { openInMemorySecretStore } from '../../src/adapters/secrets/in-memory-secret-store.js'
import { openMetrics } from '../../src/adapters/metrics/prometheus.js'
import { openDispatcher } from '../../src/composition/dispatcher.js'
import { readConfig } from '../../src/config.js'
import { aliasAdded, COLLECTION } from '../support/dispatching.js'

/** The dispatcher over the embedded log, in a process that also writes what triggers it, until it is told to stop. */
const main = async (): Promise<void> => {
  const config = readConfig()
  const { eventStore, append } = openEventLog(config.dataDirectory)
  const dispatcher = await openDispatcher(
    config,
    { eventStore, secrets: openInMemorySecretStore() },
    { log: jsonLog(process.stderr), metrics: openMetrics(), address: () => undefined },
  )
  let isWriting = true
  const write = async () => {
    for (let count = 0; isWriting; count += 1) {
      const aliases = ['', 'b', 'c', 'd'].map((letter) => aliasAdded(`${process.pid}-${count}${letter}`))
      await append(COLLECTION, ...aliases)
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
