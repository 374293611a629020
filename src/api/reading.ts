import type { IncomingHttpHeaders } from 'node:http'
import type { Position } from '../domain/ports/event-store.js'
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
   * Notes that a write of a project is acknowledged at a position, and answers it; for one that wrote nothing, the
   * position that what it repeats can be read at.
   */
  readonly acknowledged: (projectId: string, position: Position | undefined) => Position
  /**
   * Waits until the project's acknowledged writes can be read; answers the position that reads then speak of. Where it
   * is known at which position what is read was last written to, `lastWrite`, no more than that is waited for.
   */
  readonly generation: () => string
  readonly ready: (projectId: string, headers: IncomingHttpHeaders, lastWrite?: Position) => Promise<Position>
}

const WAIT_MS = 2000
const MAX_PROJECTS = 10_000

/** `head` is the log's head at start: what an earlier process acknowledged counts too. */
export const readingFrom = (projector: Readable, head: Position): Reading => {
  const acknowledged = new Map<string, Position>()
  let otherwise = head
  const known = (projectId: string) => acknowledged.get(projectId) ?? otherwise

  const note = (projectId: string, position: Position) => {
    acknowledged.delete(projectId)
    acknowledged.set(projectId, position)
    if (acknowledged.size <= MAX_PROJECTS) return
    const [oldest] = acknowledged
    if (oldest === undefined) return
    acknowledged.delete(oldest[0])
    if (oldest[1] > otherwise) otherwise = oldest[1]
  }

  return {
    generation: () => projector.generation(),
    acknowledged(projectId, position) {
      const own = known(projectId)
      if (position === undefined) return own
      if (position > own) note(projectId, position)
      return position
    },

    async ready(projectId, headers, lastWrite) {
      refuseAsOf(headers)
      const own = lastWrite ?? known(projectId)
      const asked = minPosition(headers)
      const needed = asked > own ? asked : own
      if (stale(headers) || (await projector.waitFor(needed, WAIT_MS))) return projector.reached()
      throw new Failure(
        'not-yet-readable',
        'What was written last cannot be read yet. Try again; a read may say "Tallytree-Stale: allow" for the state so far.',
        { retryAfter: 1 },
      )
    },
  }
}

const minPosition = (headers: IncomingHttpHeaders): Position => {
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

/** Answered with the present instead, a question about the past would be answered wrongly. */
export const refuseAsOf = (headers: IncomingHttpHeaders): void => {
  if (headers['tallytree-as-of'] === undefined) return
  const msg = 'Value error, answers as of an earlier position are not served yet: leave it out'
  throw invalid([{ loc: ['header', 'Tallytree-As-Of'], type: 'value_error', msg }])
}

const stale = (headers: IncomingHttpHeaders): boolean => headers['tallytree-stale'] === 'allow'
