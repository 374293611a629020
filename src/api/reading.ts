import type { IncomingHttpHeaders } from 'node:http'
import type { Position } from '../domain/ports/event-store.js'
import { asOfIn, refuseAsOf, requirePast, type AsOf, type History } from './as-of.js'
import { Failure, invalid } from './failure.js'

/** The part of a projector that readers see. */
export interface Readable {
  reached(): Position
  waitFor(position: Position, timeoutMs: number): Promise<boolean>
  /** Another text once the tables were made anew: what was read from those before may have been wrong. */
  generation(): string
}

/** Read your writes: what this process has acknowledged for a project, it lets no reader miss. */
export interface Reading {
  /**
   * Makes later reads of a project wait for the position, and returns it. Without a position, the last one of the
   * project.
   */
  readonly ackPosition: (projectId: string, position: Position | undefined) => Position
  readonly generation: () => string
  /**
   * Waits until the project's acknowledged writes can be read, or the point in history that the request asks for;
   * answers the position that reads then speak of, and what came later is left out by them. Where it is known at which
   * position what is read was last written to, `lastWrite`, no more than that is waited for.
   */
  readonly waitForAsOf: (
    projectId: string,
    headers: IncomingHttpHeaders,
    lastWrite?: Position,
  ) => Promise<Position>
  /** The same for what is only known of the present: a request about the past is refused. */
  readonly waitForNow: (
    projectId: string,
    headers: IncomingHttpHeaders,
    lastWrite?: Position,
  ) => Promise<Position>
  /** The position that a read of the log itself speaks of: it waits for no projection to come to the present. */
  readonly logPosition: (headers: IncomingHttpHeaders) => Promise<Position>
}

const WAIT_MS = 2000
const MAX_PROJECTS = 10_000

/** `head` is the log's head at start: what an earlier process acknowledged counts too. */
export const readingFrom = (projector: Readable, history: History, head: Position): Reading => {
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

  /** Waits for the read models; the position they have come to where the request takes them as they are. */
  const reached = async (position: Position, headers: IncomingHttpHeaders): Promise<Position> => {
    if (stale(headers) || (await projector.waitFor(position, WAIT_MS))) return projector.reached()
    throw notYetReadable()
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

    async waitForAsOf(projectId, headers, lastWrite) {
      const asOf = asOfIn(headers)
      return asOf === undefined ? present(projectId, headers, lastWrite) : past(asOf, headers)
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

const notYetReadable = (): Failure =>
  new Failure(
    'not-yet-readable',
    'The read models have not caught up with the requested position. Try again, or send "Tallytree-Stale: allow" to read the current state.',
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
