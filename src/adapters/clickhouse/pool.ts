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

const MAX_WAITING = 256

type Team = string | undefined

interface Waiter {
  readonly team: Team
  readonly isLater: boolean
  readonly take: (reader: ClickHouseReads) => void
}

/**
 * Readers that each run one statement at a time; a stream keeps its reader until it ends. At most `limit` of them run.
 * One team gets at most two thirds of the readers and of the queue, so that its slow reads do not stop all others. A free
 * reader goes to the team with the fewest running reads, in the order of the queue.
 * A request, known by its signal, is refused at its first statement or not at all: later ones come first in the queue.
 */
export const poolOf = (
  readers: readonly ClickHouseReads[],
  health = noHealthReports,
  limit = () => readers.length,
): ClickHouseReader => {
  const free = [...readers]
  const running = new Map<Team, number>()
  const waiting: Waiter[] = []
  const begun = new WeakSet<AbortSignal>()
  const knownParts: ClickHouseReader['knownParts'] = {
    refusedUntil: 0,
    ranges: new LRUCache({ maxSize: 100_000, sizeCalculation: (ranges) => ranges.length + 1 }),
    counts: new LRUCache({ max: 10_000 }),
  }

  const countOf = (team: Team) => running.get(team) ?? 0
  const runs = (team: Team, more: 1 | -1) => {
    const count = countOf(team) + more
    if (count === 0) running.delete(team)
    else running.set(team, count)
  }
  const isFull = () => readers.length - free.length >= limit()
  const mayRun = (team: Team) => team === undefined || countOf(team) < shareOf(limit())
  const mayWait = (team: Team) =>
    waiting.length < MAX_WAITING &&
    (team === undefined || waiting.filter((one) => one.team === team).length < shareOf(MAX_WAITING))

  const acquire = async ({ signal, team }: ReadOptions): Promise<ClickHouseReads> => {
    if (signal?.aborted === true) throw new ReadAbandoned()
    const isLater = signal !== undefined && begun.has(signal)
    if (knownParts.lost !== undefined) throw new ClickHouseUnavailable('damaged', knownParts.lost)
    const reader = !isFull() && mayRun(team) ? free.pop() : undefined
    if (reader === undefined && !isLater && !mayWait(team))
      throw new TooManyReads('too many reads are queued')
    if (signal !== undefined) begun.add(signal)
    if (reader !== undefined) {
      runs(team, 1)
      return reader
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        team,
        isLater,
        take: (given) => {
          signal?.removeEventListener('abort', leave)
          resolve(given)
        },
      }
      const leave = () => {
        waiting.splice(waiting.indexOf(waiter), 1)
        reject(new ReadAbandoned())
      }
      const firstNew = isLater ? waiting.findIndex((one) => !one.isLater) : -1
      waiting.splice(firstNew === -1 ? waiting.length : firstNew, 0, waiter)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  const release = (reader: ClickHouseReads, { team }: ReadOptions): void => {
    runs(team, -1)
    const candidates = waiting.filter((waiter) => mayRun(waiter.team))
    const fewest = Math.min(...candidates.map((waiter) => countOf(waiter.team)))
    const next = candidates.find((waiter) => countOf(waiter.team) === fewest)
    if (next === undefined) {
      free.push(reader)
      return
    }
    waiting.splice(waiting.indexOf(next), 1)
    runs(next.team, 1)
    next.take(reader)
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

const shareOf = (all: number): number => Math.max(1, Math.floor((all * 2) / 3))
