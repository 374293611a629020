import type { Instant } from '../../kernel/codec/instant.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { entityOf } from '../../kernel/ids.js'
import { Failure } from '../failure.js'

export type AsOf =
  | { readonly kind: 'position'; readonly position: Position }
  | { readonly kind: 'time'; readonly time: Instant }

/** How a caller wants to read. */
export interface ReadConditions {
  /** The read waits for this position. */
  readonly minPosition: Position
  /** The read does not wait. */
  readonly stale: boolean
  /** The point in history to read at; undefined for the present. */
  readonly asOf: AsOf | undefined
}

export type PresentConditions = Pick<ReadConditions, 'minPosition' | 'stale'>

export const NO_CONDITIONS: ReadConditions = { minPosition: 0n, stale: false, asOf: undefined }

export interface History {
  readonly head: () => Promise<Position>
  /** The position of the last projected event that was recorded no later than a time. */
  readonly lastBy: (time: Instant) => Promise<Position>
  readonly now: () => Instant
}

/** What reads need from the projector. */
export interface ReadableProjection {
  /** Of a team, the last position whose rows of this team can be read. */
  reached(team?: string): Position
  waitFor(position: Position, timeoutMs: number, team?: string): Promise<boolean>
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
   * Waits for the acknowledged writes of the project, or of all projects of a team, whose scope is `team/`, or for the point in history of the conditions, and returns the
   * position to read at.
   */
  readonly waitForAsOf: (projectId: string, conditions: ReadConditions) => Promise<Position>
  /**
   * The same for reads of the present only. `lastWrite` replaces the acknowledged position where the position of the
   * last relevant write is known.
   */
  readonly waitForNow: (
    projectId: string,
    conditions: PresentConditions,
    lastWrite?: Position,
  ) => Promise<Position>
  /** The position for reads of the log itself, which do not wait for the projection. */
  readonly logPosition: (conditions: ReadConditions) => Promise<Position>
}

const WAIT_MS = 2000
const MAX_PROJECTS = 10_000

/** `head` is the log's head at start, so that writes acknowledged by an earlier process are covered. */
export const readingFrom = (projector: ReadableProjection, history: History, head: Position): Reading => {
  const acknowledged = new Map<string, Position>()
  let minPosition = head
  const known = (scope: string) => {
    if (!scope.endsWith('/')) return acknowledged.get(scope) ?? minPosition
    return [...acknowledged].reduce(
      (last, [id, at]) => (id.startsWith(scope) ? later(last, at) : last),
      minPosition,
    )
  }

  const note = (projectId: string, position: Position) => {
    acknowledged.delete(projectId)
    acknowledged.set(projectId, position)
    if (acknowledged.size <= MAX_PROJECTS) return
    const [oldest] = acknowledged
    if (oldest === undefined) return
    acknowledged.delete(oldest[0])
    if (oldest[1] > minPosition) minPosition = oldest[1]
  }

  /** Waits until the read models reach the position, unless the read may be stale. */
  const reached = async (
    position: Position,
    { stale }: PresentConditions,
    team?: string,
  ): Promise<Position> => {
    if (stale || (await projector.waitFor(position, WAIT_MS, team))) return projector.reached(team)
    throw notYetReadable(projector.rebuilding?.())
  }

  const present = (projectId: string, conditions: PresentConditions, lastWrite?: Position) =>
    reached(
      later(lastWrite ?? known(projectId), conditions.minPosition),
      conditions,
      projectId.includes('/') ? entityOf(projectId) : undefined,
    )

  const past = async (asOf: AsOf, conditions: PresentConditions): Promise<Position> => {
    const { minPosition } = conditions
    if (asOf.kind === 'time') {
      await requirePast(asOf, history)
      await reached(later(await history.head(), minPosition), conditions)
      return history.lastBy(asOf.time)
    }
    const { position } = asOf
    if (position > projector.reached()) await requirePast(asOf, history)
    const last = await reached(later(position, minPosition), conditions)
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

    waitForAsOf: (projectId, conditions) =>
      conditions.asOf === undefined ? present(projectId, conditions) : past(conditions.asOf, conditions),

    waitForNow: present,

    async logPosition(conditions) {
      const { asOf, minPosition, stale } = conditions
      if (asOf?.kind === 'time') return past(asOf, conditions)
      const last = await history.head()
      if (minPosition > last && !stale) throw notYetReadable()
      if (asOf === undefined) return last
      await requirePast(asOf, { ...history, head: () => Promise.resolve(last) })
      return asOf.position
    },
  }
}

/** Refuses the future, because the response would still change. */
const requirePast = async (asOf: AsOf, { head, now }: History): Promise<void> => {
  if (asOf.kind === 'time') {
    if (asOf.time > now()) throw new Failure('bad-request', 'Tallytree-As-Of is in the future.')
    return
  }
  const last = await head()
  if (asOf.position > last)
    throw new Failure('bad-request', `Tallytree-As-Of is beyond the end of the log, position ${last}.`)
}

const later = (a: Position, b: Position): Position => (a > b ? a : b)

const notYetReadable = (rebuilding?: string): Failure =>
  new Failure(
    'not-yet-readable',
    `The read models have not caught up with the requested position${rebuilding === undefined ? '' : `: ${rebuilding}`}. ` +
      'Try again, or send "Tallytree-Stale: allow" to read the current state.',
    { retryAfter: 1 },
  )
