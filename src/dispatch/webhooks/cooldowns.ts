import { COOLDOWN_MS, type Match } from '../../domain/webhooks/automations/matching/judge.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'

/** The last match of each automation and run. */
export interface Cooldowns {
  readonly last: (key: string) => Match | undefined
  readonly note: (key: string, match: Match) => void
}

const KIND = 'cooldown'
const BY_TIME = 'cooldown-by-time'
/** More than the one that is added, so that all expired ones are removed in time. */
const FORGOTTEN_AT_ONCE = 2
/** Longer than the cooldown, in case the clock was ahead for a while. */
const FORGOTTEN_AFTER_MS = COOLDOWN_MS + 7 * 24 * 3600 * 1000

/** Expired entries are removed by the time of the log, so that a rebuilt state has the same ones. */
export const openCooldowns = (state: Pick<DispatcherState, 'get' | 'put' | 'remove' | 'some'>): Cooldowns => {
  const last = (key: string): Match | undefined => {
    const kept = state.get(KIND, key)
    if (kept === undefined) return undefined
    const { position, at } = kept as { position: string; at: number }
    return { position: BigInt(position), at: new Date(at) }
  }
  const forget = (key: string, { at }: Match) => {
    state.remove(BY_TIME, byTime(key, at))
    state.remove(KIND, key)
  }

  return {
    last,
    note: (key, match) => {
      const before = last(key)
      if (before !== undefined) forget(key, before)
      state.put(KIND, key, { position: String(match.position), at: match.at.getTime() })
      state.put(BY_TIME, byTime(key, match.at), key)
      for (const [, other] of state.some(BY_TIME, FORGOTTEN_AT_ONCE)) {
        const oldest = last(other as string)
        if (oldest !== undefined && oldest.at.getTime() + FORGOTTEN_AFTER_MS <= match.at.getTime())
          forget(other as string, oldest)
      }
    },
  }
}

/** In the order of time as long as milliseconds have no more digits than these. */
const byTime = (key: string, at: Date) => `${String(at.getTime()).padStart(15, '0')}\n${key}`
