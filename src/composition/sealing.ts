import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { undiciUpstreamClient } from '../adapters/outgoing/upstream-client/undici-upstream-client.js'
import { openBucketLog } from '../adapters/log-tree/bucket-log-tree.js'
import { openSqliteLogTree } from '../adapters/log-tree/sqlite-log-tree.js'
import { isReadableByOthers } from '../adapters/secrets/key-file.js'
import { makeLogKeys, readLogKeys } from '../adapters/secrets/log-keys.js'
import { systemClock } from '../adapters/system/system.js'
import { startSealing, type Sealing } from '../application/audit/sealing.js'
import type { Config } from '../config.js'
import { isNoSpace } from '../kernel/no-space.js'
import { BucketUnavailable } from '../kernel/ports/bucket.js'
import type { Log } from '../kernel/ports/log.js'
import type { LogKeys } from '../kernel/ports/log-keys.js'
import { LogTreeInUse, type LogTree } from '../kernel/ports/log-tree.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { keyRingOf } from './secrets.js'
import type { Stores } from './stores.js'

export const logTreeFile = (dataDirectory: string): string => join(dataDirectory, 'log-tree.db')
export const logKeysFile = (dataDirectory: string): string => join(dataDirectory, 'log-keys')

type SealedConfig = Pick<
  Config,
  'dataDirectory' | 'masterKeys' | 'masterKeysFile' | 'objects' | 'publicUrl' | 'roles' | 'witnesses'
>
type SealedStores = Pick<Stores, 'bucket' | 'eventStore' | 'health'>

interface OpenedSealing {
  /** Undefined in a process that does not seal the log, or does not yet. */
  readonly current: () => Sealing | undefined
  /** Logs the keys. Not before the service can be reached, so that a start that fails says only why. */
  readonly announce: () => void
  readonly stop: () => Promise<void>
}

const TAKE_OVER_EVERY_MS = 2000

/**
 * Starts to seal the log. In the data directory, one process keeps the tree and the keys: one that has the roles `api` and
 * `projector`. Another one that shares the directory, as during an upgrade, takes over when that ends. In a bucket, all
 * processes with the role `api` read them, and one after the other signs.
 *
 * @throws OperatorError
 */
export const openSealing = async (
  config: SealedConfig,
  stores: SealedStores,
  log: Log,
): Promise<OpenedSealing> => {
  const stopping = new AbortController()
  const { signal } = stopping
  let current: Sealing | undefined
  let takingOver: Promise<void> | undefined

  const announce = () => {
    if (current !== undefined) log.info('log.signed_by', { verifier_keys: [...current.verifierKeys()] })
  }

  const takeOver = async () => {
    for (;;) {
      await sleep(TAKE_OVER_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted) return
      try {
        current = await start(config, stores, log)
        announce()
        return
      } catch (error) {
        if (!(error instanceof LogTreeInUse)) stores.health.report('log-tree', error)
      }
    }
  }

  if (config.roles.has('api') && (config.roles.has('projector') || config.objects !== null))
    try {
      current = await start(config, stores, log)
    } catch (error) {
      if (!mayPass(error)) throw error
      log.warn('log.not_sealed', { reason: error.message })
      takingOver = takeOver()
    }
  return {
    current: () => current,
    announce,
    stop: async () => {
      stopping.abort()
      await takingOver
      await current?.stop()
    },
  }
}

/** Also on a full disk a service starts, for reads. */
const mayPass = (error: unknown): error is Error =>
  error instanceof LogTreeInUse ||
  error instanceof BucketUnavailable ||
  isNoSpace(error) ||
  (error instanceof Error && isNoSpace(error.cause))

const start = async (
  config: SealedConfig,
  { bucket, eventStore, health }: SealedStores,
  log: Log,
): Promise<Sealing> => {
  const { witnesses } = config
  const { tree, keys } =
    bucket === undefined
      ? logInDirectory(config, log)
      : await openBucketLog(bucket, keyRingOf(config), hostOf(config))
  try {
    const ports = { eventStore, tree, keys, clock: systemClock, log, health }
    return await startSealing(
      witnesses.length === 0
        ? ports
        : { ...ports, witnessing: { witnesses, client: undiciUpstreamClient() } },
    )
  } catch (error) {
    tree.close()
    throw error
  }
}

const logInDirectory = (
  config: Pick<Config, 'dataDirectory' | 'publicUrl'>,
  log: Pick<Log, 'warn'>,
): { readonly tree: LogTree; readonly keys: LogKeys } => {
  const [treePath, keysPath] = [logTreeFile(config.dataDirectory), logKeysFile(config.dataDirectory)]
  // A tree that is made again would not know what was signed.
  if (existsSync(keysPath) && !existsSync(treePath)) throw lost(treePath, keysPath)
  const tree = openSqliteLogTree(treePath)
  try {
    const keys = keysOf(tree, { treePath, keysPath, host: hostOf(config) })
    if (isReadableByOthers(keysPath))
      log.warn('log.keys_open_to_others', { path: keysPath, should: 'mode 0600' })
    return { tree, keys }
  } catch (error) {
    tree.close()
    throw error
  }
}

/** Part of the name of a log. */
export const hostOf = ({ publicUrl }: Pick<Config, 'publicUrl'>): string =>
  publicUrl === null ? 'localhost' : new URL(publicUrl).host

const keysOf = (
  tree: LogTree,
  { treePath, keysPath, host }: { treePath: string; keysPath: string; host: string },
): LogKeys => {
  const known = readLogKeys(keysPath)
  if (known !== undefined) return known
  if (tree.latest() !== undefined) throw lost(keysPath, treePath)
  makeLogKeys(keysPath, host)
  return readLogKeys(keysPath)!
}

const lost = (missing: string, present: string): OperatorError =>
  new OperatorError(
    `${missing} is missing, but there is ${present}: restore it from a backup, or run "tallytree log new-origin" to begin ` +
      'a new log; see docs/auditing.md#a-log-that-does-not-match-its-checkpoints',
  )
