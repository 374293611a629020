import { jsonLog } from './adapters/log/json-log.js'
import { startupMessage } from './composition/startup-errors.js'
import { startService } from './composition/service.js'
import { openStores } from './composition/stores.js'
import { readConfig } from './config.js'
import type { Log } from './kernel/ports/log.js'

/** Exit this long before the supervisor sends SIGKILL. */
const MARGIN_MS = 500

/** Printed after the address when this start created the administrator's key. */
let ofKey = ''

// Ignore EPIPE and ENOSPC: a closed log pipe or a full disk must not stop the service.
for (const out of [process.stdout, process.stderr]) out.on('error', () => undefined)

/** SIGKILL here and below, because `process.exit` waits for hung engine threads or crashes in their destructors. */
const breakOff = (seconds: number) => {
  process.stderr.write(
    `Tallytree did not stop within ${seconds} s and is killed. No acknowledged write is lost. ` +
      'On a slow machine, raise TALLYTREE_STOP_SECONDS.\n',
  )
  process.kill(process.pid, 'SIGKILL')
}

/** Logs an error that nothing caught, perhaps of a package, and ends: what is in memory may be inconsistent. */
const endOnUncaught = (log: Log): void => {
  process.on('uncaughtException', (error, origin) => {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
    log.error('process.crashed', { origin, error: stack })
    process.kill(process.pid, 'SIGKILL')
  })
}

const main = async (): Promise<void> => {
  const config = readConfig()
  const log = jsonLog(process.stderr)
  endOnUncaught(log)
  const service = await startService(config, await openStores(config, log), log, (key) => {
    ofKey = `, administrator's API key (shown this once): ${key}`
  })

  let isStopping = false
  const stop = () => {
    // Ctrl-C signals the whole process group, and npm forwards the signal to its child again.
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
  const grpc = service.otlpGrpcAddress === undefined ? '' : `, OTLP/gRPC at ${service.otlpGrpcAddress}`
  process.stdout.write(`Tallytree is ready at ${service.address}${grpc}${ofKey}\n`)
}

main().catch((error: unknown) => {
  process.stderr.write(`Tallytree cannot start: ${startupMessage(error)}\n`)
  if (ofKey !== '') process.stdout.write(`Tallytree was set up${ofKey}\n`)
  process.exit(1)
})
