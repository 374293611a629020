import { jsonLog } from './adapters/log/json-log.js'
import { startService } from './composition/service.js'
import { ConfigurationError, readConfig } from './config.js'

const STOP_WITHIN_MS = 9500

const main = async (): Promise<void> => {
  const service = await startService(readConfig(), jsonLog(process.stderr))
  const key =
    service.createdKey === null ? '' : `, administrator's API key (shown this once): ${service.createdKey}`
  process.stdout.write(`Tallytree is ready at ${service.address}${key}\n`)

  const stop = () => {
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref()
    void service.stop().then(() => process.exit(0))
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}

main().catch((error: unknown) => {
  const expected = error instanceof ConfigurationError || (error instanceof Error && 'expected' in error)
  process.stderr.write(`${expected ? (error as Error).message : String((error as Error).stack)}\n`)
  process.exit(1)
})
