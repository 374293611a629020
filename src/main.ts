import { jsonLog } from './adapters/log/json-log.js'
import { startupMessage } from './composition/startup-errors.js'
import { startService } from './composition/service.js'
import { openStores } from './composition/stores.js'
import { readConfig } from './config.js'

/** Between its own end and that which whoever supervises the program brings about. */
const MARGIN_MS = 500

/** What is said of the administrator's key, if it was made at this start. */
let ofKey = ''

// Whoever reads what the program says may go away, and the disk that keeps it be full: the program goes on.
for (const out of [process.stdout, process.stderr]) out.on('error', () => undefined)

/** An orderly exit would wait for what hangs, or pull the engine away from under what it is at. */
const breakOff = (seconds: number) => {
  process.stderr.write(
    `Tallytree did not stop within ${seconds} s and is killed. No acknowledged write is lost. ` +
      'On a slow machine, raise TALLYTREE_STOP_SECONDS.\n',
  )
  process.kill(process.pid, 'SIGKILL')
}

const main = async (): Promise<void> => {
  const config = readConfig()
  const log = jsonLog(process.stderr)
  const service = await startService(config, await openStores(config, log), log, (key) => {
    ofKey = `, administrator's API key (shown this once): ${key}`
  })

  let isStopping = false
  const stop = () => {
    // A terminal tells the whole group, and npm tells its child once more.
    if (isStopping) return
    isStopping = true
    setTimeout(() => breakOff(config.stopSeconds), config.stopSeconds * 1000 - MARGIN_MS).unref()
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`Tallytree failed to stop cleanly: ${startupMessage(error)}\n`)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.stdout.write(`Tallytree is ready at ${service.address}${ofKey}\n`)
}

main().catch((error: unknown) => {
  process.stderr.write(`Tallytree cannot start: ${startupMessage(error)}\n`)
  if (ofKey !== '') process.stdout.write(`Tallytree was set up${ofKey}\n`)
  process.exit(1)
})
