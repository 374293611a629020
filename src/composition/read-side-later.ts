import type { Config } from '../config.js'
import { retry } from '../kernel/backoff.js'
import { ClickHouseUnavailable } from '../kernel/ports/clickhouse.js'
import type { Log } from '../kernel/ports/log.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { within } from '../kernel/within.js'
import type { ReadSide } from './read-side.js'

const BACKOFF = { firstMs: 500, maxMs: 5000 }

/**
 * Opens the read side over a server. If the server is away, it is tried again until it is there; until then nothing is
 * projected, and reads are refused with the reason.
 *
 * @throws OperatorError if the server refuses what it is asked for
 */
export const openReadSideLater = async (
  open: () => Promise<ReadSide>,
  { roles }: Pick<Config, 'roles'>,
  log: Pick<Log, 'warn' | 'info'>,
): Promise<ReadSide> => {
  const stopping = new AbortController()
  const { signal } = stopping
  let reason = ''
  let readSide: ReadSide | undefined

  const note = (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error)
    const before = reason
    reason = publicReason(error)
    if (reason !== before) log.warn('clickhouse.waiting', { reason: message })
  }
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof ClickHouseUnavailable)) throw error
    if (error.why === 'refusing') throw withVariable(error)
    note(error)
  }

  const again = (error: unknown) => {
    if (!signal.aborted) note(error)
    return !signal.aborted
  }
  const opening = retry(open, again, { ...BACKOFF, signal }).then(
    (opened) => {
      readSide = opened
      log.info('clickhouse.found')
    },
    () => undefined,
  )
  const failing = () => (readSide === undefined ? reason : readSide.failing?.())

  return {
    reached: (team) => readSide?.reached(team) ?? 0n,
    waitFor: (position, timeoutMs, team) =>
      readSide?.waitFor(position, timeoutMs, team) ?? Promise.resolve(false),
    generation: () => readSide?.generation() ?? '',
    rebuilding: () => (readSide === undefined ? reason : readSide.rebuilding?.()),
    lastBy: (time) => readSide?.lastBy(time) ?? Promise.resolve(0n),
    quarantined: () => readSide?.quarantined() ?? 0,
    failing,
    ...(roles.has('projector') && {
      behind: async () => (await readSide?.behind?.()) ?? NaN,
      lagging: {
        lagMs: (team) => readSide?.lagging?.lagMs(team) ?? 0,
        nextInsert: async (timeoutMs) => {
          if (readSide?.lagging !== undefined) return readSide.lagging.nextInsert(timeoutMs)
          await within(timeoutMs, opening)
          return false
        },
      },
    }),
    stop: async () => {
      stopping.abort()
      await opening
      await readSide?.stop()
    },
  }
}

/** For `/health` and clients: without address and user. */
const publicReason = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof ClickHouseUnavailable) return cause.message
  return error instanceof OperatorError ? error.message : 'the read models cannot be opened'
}

const withVariable = (error: ClickHouseUnavailable): ClickHouseUnavailable =>
  error.message.startsWith('CLICKHOUSE_')
    ? error
    : new ClickHouseUnavailable(error.why, `CLICKHOUSE_URL: ${error.message}`, { cause: error })
