import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { EventStore, Position } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import { within } from '../../kernel/within.js'
import { schemaState } from '../migrate.js'
import { findLogMismatch, readCheckpoint } from './checkpoint.js'
import { errorName } from './error-name.js'
import { notifier } from './notifier.js'
import { countQuarantined } from './quarantine.js'
import { reachedPosition } from './reached-position.js'

/** The read models as a process sees them whose projector is another process: up to the checkpoint. */
export interface ReadState {
  readonly reached: () => Position
  readonly waitFor: (position: Position, timeoutMs: number) => Promise<boolean>
  readonly quarantined: () => number
  readonly generation: () => string
  /** Why nothing can be read: the tables are missing, old, or filled from another log. */
  readonly failing: () => string | undefined
  readonly stop: () => Promise<void>
}

/** Milliseconds between two polls, while a reader waits and while none does. */
const WAITED_FOR_MS = 50
const IDLE_MS = 1000

export const followReadState = async (
  reader: Pick<ClickHouseReader, 'query'>,
  eventStore: Pick<EventStore, 'readStream' | 'readAll' | 'head'>,
  log: Pick<Log, 'warn'>,
): Promise<ReadState> => {
  const wake = notifier()
  const reached = reachedPosition(0n, wake.notify)
  let quarantined = 0
  let generation = ''
  let checkedGeneration: string | undefined
  let unusable: string | undefined
  let isFailing = false
  let isStopped = false

  /** The tables may be missing or old at the start, and another deployment may have filled them since. */
  const checkTables = async () => {
    if (checkedGeneration === generation && unusable === undefined) return
    // Before the check, or tables that another log fills meanwhile would count as checked.
    const isFilled = await hasCheckpoint(reader)
    unusable = await whyUnusable(reader, eventStore, generation)
    if (isFilled && unusable === undefined) checkedGeneration = generation
  }

  const poll = async () => {
    try {
      // First: a checkpoint of exchanged tables must not be read under the generation before.
      generation = await readGeneration(reader)
      await checkTables()
      if (unusable === undefined) {
        reached.reset((await readCheckpoint(reader)).position)
        quarantined = await countQuarantined(reader)
      }
      isFailing = false
    } catch (error) {
      if (!isFailing) log.warn('checkpoint.read_failed', { error: errorName(error) })
      isFailing = true
    }
  }
  await poll()

  const follow = async () => {
    while (!isStopped) {
      const next = wake.next()
      await poll()
      if (reached.isAwaited()) await sleep(WAITED_FOR_MS)
      else await within(IDLE_MS, next)
    }
  }
  const following = follow()

  return {
    reached: () => (unusable === undefined ? reached.get() : 0n),
    waitFor: async (position, timeoutMs) => unusable === undefined && reached.waitFor(position, timeoutMs),
    quarantined: () => quarantined,
    generation: () => generation,
    failing: () => unusable,
    stop: () => {
      isStopped = true
      wake.notify()
      return following
    },
  }
}

/** False for tables of an earlier release too, whose checkpoint cannot be read. */
const hasCheckpoint = (reader: Pick<ClickHouseReader, 'query'>): Promise<boolean> =>
  readCheckpoint(reader).then(
    ({ anchor }) => anchor !== undefined,
    () => false,
  )

const whyUnusable = async (
  reader: Pick<ClickHouseReader, 'query'>,
  eventStore: Pick<EventStore, 'readStream' | 'readAll' | 'head'>,
  generation: string,
): Promise<string | undefined> => {
  if (generation === '') return 'the read models do not exist yet: start a process with the role projector'
  const mismatch = await findLogMismatch(reader, eventStore)
  if (mismatch !== undefined) return `the ClickHouse database is in use: ${mismatch.reason}`
  return (await schemaState(reader)) === 'older'
    ? 'the read models are those of an earlier release: start a process of this release with the role projector'
    : undefined
}

/** The identity of the table that a rebuild exchanges last: once it has changed, all tables have. */
const readGeneration = async (reader: Pick<ClickHouseReader, 'query'>): Promise<string> => {
  const [row] = await reader.query<{ identity: string }>(
    "SELECT toString(uuid) AS identity FROM system.tables WHERE database = currentDatabase() AND name = 'checkpoints'",
  )
  return row?.identity ?? ''
}
