import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { Scheduling } from './scheduling.js'

/** What tells of which delivery it is. */
export type Scheduled = Pick<Scheduling['data'], 'delivery_id' | 'team' | 'source'>

/**
 * Deliveries that the log is not seen to hold yet, by teams. Most are seen within milliseconds: what comes stays in memory
 * alone until the state is committed, and only what is still there then is written into it.
 */
export interface Unscheduled {
  readonly add: (scheduling: Scheduling) => void
  readonly remove: (scheduled: Scheduled) => void
  /** A team's first ones, oldest first. */
  readonly firstOf: (team: string, limit: number) => readonly Scheduling[]
  readonly teams: () => Iterable<string>
  /** Writes so many of those that the state has not: whether it has them all, as it must before each commit. */
  readonly settle: (most: number) => boolean
  readonly inMemory: () => number
  /** Leaves so many, a team's oldest first, to the state alone. */
  readonly makeRoom: (leaving: number) => void
  /** The state was taken back. */
  readonly forget: () => void
}

interface Held {
  readonly scheduling: Scheduling
  /** Whether the state has it, too. */
  isKept: boolean
}

const KIND = 'outbox'

export const openUnscheduled = (state: Pick<DispatcherState, 'put' | 'remove' | 'some'>): Unscheduled => {
  /** By team and key. What the state alone has is older. */
  const held = new Map<string, Map<string, Held>>()
  /** Teams of which the state alone has nothing. */
  const wholly = new Set<string>()
  let count = 0

  const drop = (team: string, key: string): Held | undefined => {
    const own = held.get(team)
    const found = own?.get(key)
    if (own === undefined || found === undefined) return undefined
    own.delete(key)
    if (own.size === 0) held.delete(team)
    count -= 1
    return found
  }
  const keep = (key: string, one: Held): void => {
    if (!one.isKept) state.put(KIND, key, one.scheduling)
    one.isKept = true
  }
  /** Those of a team that stand before all that memory alone has. */
  const keptOf = (team: string, limit: number): readonly Scheduling[] => {
    const prefix = beforeAllOf(team)
    const kept = state.some(KIND, limit, prefix).filter(([key]) => key.startsWith(prefix))
    const own = held.get(team)
    if (kept.length < limit && kept.every(([key]) => own?.has(key) === true)) wholly.add(team)
    return kept.map(([, scheduling]) => scheduling as Scheduling)
  }

  return {
    add: (scheduling) => {
      const { team } = scheduling.data
      const key = keyOf(scheduling.data)
      const own = held.get(team) ?? new Map<string, Held>()
      if (own.has(key)) return
      held.set(team, own.set(key, { scheduling, isKept: false }))
      count += 1
    },
    remove: (scheduled) => {
      const key = keyOf(scheduled)
      if (drop(scheduled.team, key)?.isKept !== false) state.remove(KIND, key)
      if (!held.has(scheduled.team)) wholly.delete(scheduled.team)
    },
    firstOf: (team, limit) => {
      const isWhole = wholly.has(team)
      const found = isWhole ? [] : [...keptOf(team, limit)]
      for (const { scheduling, isKept } of held.get(team)?.values() ?? []) {
        if (found.length >= limit) break
        if (isWhole || !isKept) found.push(scheduling)
      }
      return found
    },
    teams: function* () {
      yield* [...held.keys()]
      for (let [first] = state.some(KIND, 1); first !== undefined;) {
        const team = first[0].slice(0, first[0].indexOf('\n'))
        yield team
        ;[first] = state.some(KIND, 1, behindAllOf(team))
      }
    },
    settle: (most) => {
      let left = most
      for (const [, own] of held)
        for (const [key, one] of own) {
          if (one.isKept) continue
          if (left <= 0) return false
          keep(key, one)
          left -= 1
        }
      return true
    },
    inMemory: () => count,
    makeRoom: (leaving) => {
      let left = leaving
      for (const [team, own] of held)
        for (const [key, one] of own) {
          if (left <= 0) return
          keep(key, one)
          drop(team, key)
          wholly.delete(team)
          left -= 1
        }
    },
    forget: () => {
      held.clear()
      wholly.clear()
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
