import { LRUCache } from 'lru-cache'
import {
  ClickHouseUnavailable,
  ReadAbandoned,
  TooManyReads,
  type ClickHouseReader,
  type ClickHouseReads,
  type ReadOptions,
} from '../../kernel/ports/clickhouse.js'
import { noHealthReports } from '../../kernel/ports/health.js'
import { shareOf, teamSlots, type Team } from '../../kernel/team-slots.js'

const MAX_WAITING = 256

/**
 * Readers that each run one statement at a time; a stream keeps its reader until it ends. At most `limit` of them run. Teams
 * share them and the queue.
 * A request, known by its signal, is refused at its first statement or not at all: later ones come first in the queue.
 */
export const poolOf = (
  readers: readonly ClickHouseReads[],
  health = noHealthReports,
  limit = () => readers.length,
): ClickHouseReader => {
  const free = [...readers]
  const slots = teamSlots(limit)
  const begun = new WeakSet<AbortSignal>()
  const knownParts: ClickHouseReader['knownParts'] = {
    refusedUntil: 0,
    ranges: new LRUCache({ maxSize: 100_000, sizeCalculation: (ranges) => ranges.length + 1 }),
    counts: new LRUCache({ max: 10_000 }),
  }

  const mayWait = (team: Team) =>
    slots.waiting.length < MAX_WAITING &&
    (team === undefined || slots.waiting.filter((one) => one.team === team).length < shareOf(MAX_WAITING))

  const acquire = async ({ signal, team }: ReadOptions): Promise<ClickHouseReads> => {
    if (signal?.aborted === true) throw new ReadAbandoned()
    const isLater = signal !== undefined && begun.has(signal)
    if (knownParts.lost !== undefined) throw new ClickHouseUnavailable('damaged', knownParts.lost)
    const isFree = slots.take(team)
    if (!isFree && !isLater && !mayWait(team)) throw new TooManyReads('too many reads are queued')
    if (signal !== undefined) begun.add(signal)
    if (!isFree)
      await new Promise<void>((resolve, reject) => {
        const take = () => {
          signal?.removeEventListener('abort', abandon)
          resolve()
        }
        const leave = slots.wait(team, take, isLater)
        const abandon = () => {
          leave()
          reject(new ReadAbandoned())
        }
        signal?.addEventListener('abort', abandon, { once: true })
      })
    return free.pop()!
  }

  const release = (reader: ClickHouseReads, { team }: ReadOptions): void => {
    free.push(reader)
    slots.release(team)
  }

  const reportFailure = (error: unknown) => {
    if (!isOptional(error)) health.report('reads', error)
  }

  return {
    knownParts,

    async query<Row>(...asked: Parameters<ClickHouseReader['query']>) {
      const reader = await acquire(asked[2] ?? {})
      try {
        const rows = await reader.query<Row>(...asked)
        health.report('reads', null)
        return rows
      } catch (error) {
        reportFailure(error)
        throw error
      } finally {
        release(reader, asked[2] ?? {})
      }
    },

    async *stream(...asked) {
      const reader = await acquire(asked[2] ?? {})
      try {
        for await (const chunk of reader.stream(...asked)) {
          health.report('reads', null)
          yield chunk
        }
      } catch (error) {
        reportFailure(error)
        throw error
      } finally {
        release(reader, asked[2] ?? {})
      }
    },
  }
}

/** The service does without system tables that it may not read. */
const isOptional = (error: unknown): boolean =>
  error instanceof ClickHouseUnavailable && error.code === '497' && / ON system\./.test(error.message)
