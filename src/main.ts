import { jsonLog } from './adapters/log/json-log.js'
import { explanation } from './composition/explanation.js'
import { startService } from './composition/service.js'
import { openStores } from './composition/stores.js'
import { readConfig } from './config.js'

const STOP_WITHIN_MS = 9500

const main = async (): Promise<void> => {
  const config = readConfig()
  const log = jsonLog(process.stderr)
  const service = await startService(config, await openStores(config, log), log)
  const key =
    service.createdKey === null ? '' : `, administrator's API key (shown this once): ${service.createdKey}`
  process.stdout.write(`Tallytree is ready at ${service.address}${key}\n`)

  const stop = () => {
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref()
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`Tallytree did not stop as it should: ${explanation(error)}\n`)
        process.exit(1)
      },
    )
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}

main().catch((error: unknown) => {
  process.stderr.write(`Tallytree cannot start: ${explanation(error)}\n`)
  process.exit(1)
})
