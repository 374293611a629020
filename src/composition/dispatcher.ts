import { join } from 'node:path'
import { openBucketAttemptRecords } from '../adapters/attempt-records/bucket-attempt-records.js'
import { openSqliteAttemptRecords } from '../adapters/attempt-records/sqlite-attempt-records.js'
import { openSqliteDispatcherState } from '../adapters/dispatch-state/sqlite-dispatcher-state.js'
import { compileRe2 } from '../adapters/patterns/re2.js'
import { systemIds, hmacSha256, sha256, systemClock } from '../adapters/system/system.js'
import type { Config } from '../config.js'
import { startDispatcher, type Dispatcher } from '../dispatch/webhooks/dispatcher.js'
import type { AttemptRecords } from '../kernel/ports/attempt-records.js'
import type { Bucket } from '../kernel/ports/bucket.js'
import type { Log } from '../kernel/ports/log.js'
import type { Metrics } from '../kernel/ports/metrics.js'
import type { WebhookSender } from '../kernel/ports/webhook-sender.js'
import { openOrRecreate, recreatingState } from '../adapters/dispatch-state/open-or-recreate.js'
import type { Stores } from './stores.js'

/** Derived from the log: it may be deleted while the service is stopped. */
const dispatcherFile = (dataDirectory: string) => join(dataDirectory, 'dispatcher.db')
/** What requests and responses of attempts looked like. Not in the log, and not vital. */
const attemptsFile = (dataDirectory: string) => join(dataDirectory, 'attempts.db')

/** The records of attempts. If they cannot be read, deliveries are shown without them. */
export const openAttempts = (
  { dataDirectory }: Pick<Config, 'dataDirectory'>,
  bucket: Bucket | undefined,
  log: Pick<Log, 'warn'>,
): AttemptRecords => {
  const records =
    bucket === undefined
      ? openOrRecreate(attemptsFile(dataDirectory), openSqliteAttemptRecords, log)
      : openBucketAttemptRecords(bucket)
  return {
    ...records,
    of: async (deliveryId, attempts) => {
      try {
        return await records.of(deliveryId, attempts)
      } catch (error) {
        log.warn('attempts.read_failed', { error: error instanceof Error ? error.name : 'unknown' })
        return []
      }
    },
  }
}

interface DispatcherPorts {
  readonly log: Log
  readonly metrics: Pick<Metrics, 'webhooks'>
  readonly webhookSender: WebhookSender
}

/** Starts the dispatcher. Stop it before the stores are closed. */
export const openDispatcher = (
  config: Config,
  { eventStore, blobs, secrets, bucket }: Pick<Stores, 'eventStore' | 'blobs' | 'secrets' | 'bucket'>,
  { log, metrics, webhookSender }: DispatcherPorts,
): Promise<Dispatcher> =>
  startDispatcher(
    {
      eventStore,
      blobs,
      secrets,
      clock: systemClock,
      ids: systemIds,
      sha256,
      hmac: hmacSha256,
      compilePattern: compileRe2,
      state: recreatingState(() =>
        openOrRecreate(dispatcherFile(config.dataDirectory), openSqliteDispatcherState, log),
      ),
      records: openAttempts(config, bucket, log),
      sender: webhookSender,
      log,
      metrics: metrics.webhooks,
    },
    { vendor: config.vendor, publicUrl: config.publicUrl, isAlone: config.eventStoreUrl === null },
  )
