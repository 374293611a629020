import { PassingMap } from '../../domain/passing.js'
import type { DispatcherState } from '../../domain/ports/dispatcher-state.js'
import type { Scheduling } from './scheduling.js'

/** What tells of which delivery it is. */
export type Scheduled = Pick<Scheduling['data'], 'delivery_id' | 'team' | 'source'>

/**
 * Deliveries that the log is not seen to hold yet, by teams. Most are seen within milliseconds: what comes stays in memory
 * until the state is committed, and only what is still there then is written into it.
 */
export interface Unscheduled {
  readonly add: (scheduling: Scheduling) => void
  readonly remove: (scheduled: Scheduled) => void
  /** A team's first ones, oldest first. */
  readonly firstOf: (team: string, limit: number) => readonly Scheduling[]
  readonly teams: () => Iterable<string>
  /** Writes all, or the oldest, of what is in memory into the state: to be called before each commit. */
  readonly settle: (limit?: number) => void
  readonly inMemory: () => number
  /** The state was taken back. */
  readonly forget: () => void
}

const KIND = 'outbox'

export const openUnscheduled = (state: Pick<DispatcherState, 'put' | 'remove' | 'some'>): Unscheduled => {
  /** By team and key. Whatever stands in the state is older. */
  const added = new PassingMap<string, PassingMap<string, Scheduling>>()
  let count = 0

  const removeAdded = (team: string, key: string): boolean => {
    const own = added.get(team)
    if (own?.delete(key) !== true) return false
    if (own.size === 0) added.delete(team)
    count -= 1
    return true
  }

  return {
    add: (scheduling) => {
      const { team } = scheduling.data
      const own = added.get(team) ?? new PassingMap<string, Scheduling>()
      const before = own.size
      added.set(team, own.set(keyOf(scheduling.data), scheduling))
      count += own.size - before
    },
    remove: (scheduled) => {
      const key = keyOf(scheduled)
      if (!removeAdded(scheduled.team, key)) state.remove(KIND, key)
    },
    firstOf: (team, limit) => {
      const prefix = beforeAllOf(team)
      const found = state
        .some(KIND, limit, prefix)
        .filter(([key]) => key.startsWith(prefix))
        .map(([, kept]) => kept as Scheduling)
      for (const scheduling of added.get(team)?.values() ?? []) {
        if (found.length >= limit) break
        found.push(scheduling)
      }
      return found
    },
    teams: function* () {
      yield* [...added.keys()]
      for (let [first] = state.some(KIND, 1); first !== undefined;) {
        const team = first[0].slice(0, first[0].indexOf('\n'))
        yield team
        ;[first] = state.some(KIND, 1, behindAllOf(team))
      }
    },
    settle: (limit = count) => {
      let left = limit
      for (const [team, own] of added)
        for (const [key, scheduling] of own) {
          if (left <= 0) return
          state.put(KIND, key, scheduling)
          removeAdded(team, key)
          left -= 1
        }
    },
    inMemory: () => count,
    forget: () => {
      added.clear()
      count = 0
    },
  }
}

const POSITION_DIGITS = 20
/** By team, and there by the position of what led to it. Names and ids have no control characters. */
const keyOf = ({ team, source, delivery_id }: Scheduled): string =>
  `${beforeAllOf(team)}${source.position.padStart(POSITION_DIGITS, '0')}\n${delivery_id}`
const beforeAllOf = (team: string) => `${team}\n`
/** Comes behind every digit. */
const behindAllOf = (team: string) => `${team}\n~`
