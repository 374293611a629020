import { join } from 'node:path'
import { openSqliteAttemptRecords } from '../adapters/attempt-records/sqlite-attempt-records.js'
import { openSqliteDispatcherState } from '../adapters/dispatch-state/sqlite-dispatcher-state.js'
import { compileRe2 } from '../adapters/patterns/re2.js'
import { systemIds } from '../adapters/system/ids.js'
import { hmacSha256, sha256, systemClock } from '../adapters/system/system.js'
import type { Config } from '../config.js'
import { startDispatcher, type Dispatcher } from '../dispatch/webhooks/dispatcher.js'
import type { AttemptRecords } from '../domain/ports/attempt-records.js'
import type { Log } from '../domain/ports/log.js'
import type { Metrics } from '../domain/ports/metrics.js'
import type { WebhookSender } from '../domain/ports/webhook-sender.js'
import { openOrPutAside } from './put-aside.js'
import { reopeningState } from './reopening-state.js'
import type { Stores } from './stores.js'

/** Where the dispatcher's state lies, which may be deleted while it is stopped. */
const dispatcherFile = (dataDirectory: string) => join(dataDirectory, 'dispatcher.db')
/** Where it is kept what attempts looked like, which nothing else knows. */
const attemptsFile = (dataDirectory: string) => join(dataDirectory, 'attempts.db')

/** What was kept of attempts, for those who look at it; what cannot be read now is as if it were not kept. */
export const openAttempts = (
  { dataDirectory }: Pick<Config, 'dataDirectory'>,
  log: Pick<Log, 'warn'>,
): AttemptRecords => {
  const records = openOrPutAside(attemptsFile(dataDirectory), openSqliteAttemptRecords, log)
  return {
    ...records,
    of: (deliveryId, attempts) => {
      try {
        return records.of(deliveryId, attempts)
      } catch (error) {
        log.warn('attempts.read_failed', { error: error instanceof Error ? error.name : 'unknown' })
        return []
      }
    },
  }
}

interface Around {
  readonly log: Log
  readonly metrics: Pick<Metrics, 'webhooks'>
  readonly webhookSender: WebhookSender
}

/** Sends what automations match, where this process has the role; `stop` before the stores are closed. */
export const openDispatcher = (
  config: Config,
  { eventStore, secrets }: Pick<Stores, 'eventStore' | 'secrets'>,
  { log, metrics, webhookSender }: Around,
): Promise<Dispatcher> =>
  startDispatcher(
    {
      eventStore,
      secrets,
      clock: systemClock,
      ids: systemIds,
      sha256,
      hmac: hmacSha256,
      compilePattern: compileRe2,
      state: reopeningState(() =>
        openOrPutAside(dispatcherFile(config.dataDirectory), openSqliteDispatcherState, log),
      ),
      records: openAttempts(config, log),
      sender: webhookSender,
      log,
      metrics: metrics.webhooks,
    },
    { vendor: config.vendor, isAlone: config.eventStoreUrl === null },
  )
