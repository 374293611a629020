import type { IncomingHttpHeaders } from 'node:http'
import type { Position } from '../../kernel/ports/event-store.js'
import { asOfIn, refuseAsOf, requirePast, type AsOf, type History } from './as-of.js'
import { Failure, invalid } from '../failure.js'

/** What reads need from the projector. */
export interface ReadableProjection {
  reached(): Position
  waitFor(position: Position, timeoutMs: number): Promise<boolean>
  /** Changes when the read models are rebuilt, which invalidates everything that was cached from them. */
  generation(): string
  /** The progress while the read models are filled again from the log. */
  rebuilding?(): string | undefined
}

/** Read-your-writes: a read waits until the projection passes the last position acknowledged for its project. */
export interface Reading {
  /**
   * Makes later reads of the project wait for the position and returns it. Without a position, returns the last
   * acknowledged one.
   */
  readonly ackPosition: (projectId: string, position: Position | undefined) => Position
  readonly generation: () => string
  /**
   * Waits for the project's acknowledged writes, or for the point in history that the request names, and returns the
   * position to read at.
   */
  readonly waitForAsOf: (projectId: string, headers: IncomingHttpHeaders) => Promise<Position>
  /**
   * The same for reads of the present only: refuses `Tallytree-As-Of`. `lastWrite` replaces the acknowledged position
   * where the position of the last relevant write is known.
   */
  readonly waitForNow: (
    projectId: string,
    headers: IncomingHttpHeaders,
    lastWrite?: Position,
  ) => Promise<Position>
  /** The position for reads of the log itself, which do not wait for the projection. */
  readonly logPosition: (headers: IncomingHttpHeaders) => Promise<Position>
}

const WAIT_MS = 2000
const MAX_PROJECTS = 10_000

/** `head` is the log's head at start, so that writes acknowledged by an earlier process are covered. */
export const readingFrom = (projector: ReadableProjection, history: History, head: Position): Reading => {
  const acknowledged = new Map<string, Position>()
  let minPosition = head
  const known = (projectId: string) => acknowledged.get(projectId) ?? minPosition

  const note = (projectId: string, position: Position) => {
    acknowledged.delete(projectId)
    acknowledged.set(projectId, position)
    if (acknowledged.size <= MAX_PROJECTS) return
    const [oldest] = acknowledged
    if (oldest === undefined) return
    acknowledged.delete(oldest[0])
    if (oldest[1] > minPosition) minPosition = oldest[1]
  }

  /** Waits until the read models reach the position; with `Tallytree-Stale: allow` it does not wait. */
  const reached = async (position: Position, headers: IncomingHttpHeaders): Promise<Position> => {
    if (stale(headers) || (await projector.waitFor(position, WAIT_MS))) return projector.reached()
    throw notYetReadable(projector.rebuilding?.())
  }

  const present = (projectId: string, headers: IncomingHttpHeaders, lastWrite?: Position) =>
    reached(later(lastWrite ?? known(projectId), minPositionIn(headers)), headers)

  const past = async (asOf: AsOf, headers: IncomingHttpHeaders): Promise<Position> => {
    const asked = minPositionIn(headers)
    if (asOf.kind === 'time') {
      await requirePast(asOf, history)
      await reached(later(await history.head(), asked), headers)
      return history.lastBy(asOf.time)
    }
    const { position } = asOf
    if (position > projector.reached()) await requirePast(asOf, history)
    const last = await reached(later(position, asked), headers)
    return last < position ? last : position
  }

  return {
    generation: () => projector.generation(),
    ackPosition(projectId, position) {
      const own = known(projectId)
      if (position === undefined) return own
      if (position > own) note(projectId, position)
      return position
    },

    async waitForAsOf(projectId, headers) {
      const asOf = asOfIn(headers)
      return asOf === undefined ? present(projectId, headers) : past(asOf, headers)
    },

    async waitForNow(projectId, headers, lastWrite) {
      refuseAsOf(headers)
      return present(projectId, headers, lastWrite)
    },

    async logPosition(headers) {
      const asOf = asOfIn(headers)
      if (asOf?.kind === 'time') return past(asOf, headers)
      const asked = minPositionIn(headers)
      const last = await history.head()
      if (asked > last && !stale(headers)) throw notYetReadable()
      if (asOf === undefined) return last
      await requirePast(asOf, { ...history, head: () => Promise.resolve(last) })
      return asOf.position
    },
  }
}

const later = (a: Position, b: Position): Position => (a > b ? a : b)

const notYetReadable = (rebuilding?: string): Failure =>
  new Failure(
    'not-yet-readable',
    `The read models have not caught up with the requested position${rebuilding === undefined ? '' : `: ${rebuilding}`}. ` +
      'Try again, or send "Tallytree-Stale: allow" to read the current state.',
    { retryAfter: 1 },
  )

const minPositionIn = (headers: IncomingHttpHeaders): Position => {
  const text = headers['tallytree-min-position']
  if (text === undefined) return 0n
  if (typeof text === 'string' && /^\d{1,19}$/.test(text)) return BigInt(text)
  throw invalid([
    {
      loc: ['header', 'Tallytree-Min-Position'],
      type: 'int_parsing',
      msg: 'Input should be a log position in decimal digits',
    },
  ])
}

const stale = (headers: IncomingHttpHeaders): boolean => headers['tallytree-stale'] === 'allow'
