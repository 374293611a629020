import type { GatewayCall } from '../../domain/gateway/limits/gateway-call.js'
import { Ledger } from '../../domain/gateway/limits/ledger.js'
import { periodOf } from '../../domain/gateway/limits/accounts.js'
import { snapshotIn, snapshotJson } from '../../domain/gateway/limits/snapshot.js'
import {
  limitEvents,
  LIMITS_PREFIX,
  limitsStream,
  type LimitEvent,
  limitDecider,
  noLimits,
  type TeamLimits,
} from '../../domain/gateway/limits/limits.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Snapshots } from '../../kernel/ports/snapshots.js'
import { startReactor, type Reactor } from '../../kernel/reactor.js'

export interface LedgerPorts extends Pick<Ports, 'eventStore' | 'ids' | 'clock'> {
  readonly snapshots: Snapshots
  readonly log: Log
}

/** The costs and limits of completions, from the log. */
export interface LedgerFollower {
  readonly ledger: Ledger
  readonly limitsOf: (team: string) => TeamLimits
  /** Whether the log was read to its end once. Until then the ledger and limits are incomplete. */
  readonly isReady: () => boolean
  /** Resolves to false if it is not ready in time, or before the stop. */
  readonly ready: (withinMs: number) => Promise<boolean>
  /** Resolves to false if the position is not read in time. */
  readonly reached: (position: Position, withinMs: number) => Promise<boolean>
  /** How far the log is read. */
  readonly progress: () => { readonly position: Position; readonly head: Position }
  /** Stops following and saves a snapshot. */
  readonly stop: () => Promise<void>
}

interface Following extends LedgerPorts {
  /** Called for each event of a completion, once ready. */
  readonly onCall: (call: GatewayCall) => void
}

interface KnownLimits {
  readonly limits: TeamLimits
  /** The next revision of the team's stream. */
  readonly next: bigint
}

interface Costs {
  readonly ledger: Ledger
  readonly limits: Map<string, KnownLimits>
  /** The completion of the last event, if it belongs to one. */
  call: GatewayCall | undefined
}

/** A snapshot may hold many accounts, so it is written less often than other reactors do. */
const SAVE_EVERY_MS = 10_000

const costsReactor = ({ eventStore, clock, onCall }: Following): Reactor<Costs> => ({
  name: 'ledger',
  types: new Set(['CallStarted', 'CallEnded', 'CallDeleted', ...Object.keys(limitEvents)]),
  initialState: () => ({ ledger: new Ledger(), limits: new Map(), call: undefined }),
  evolve: (costs, event) => {
    if (event.stream.startsWith(LIMITS_PREFIX)) evolveLimits(costs.limits, event)
    costs.call = costs.ledger.take(event)
    return costs
  },
  react: ({ call }, _, { isCaughtUp }) => {
    if (call !== undefined && isCaughtUp()) onCall(call)
    return undefined
  },
  snapshot: {
    encode: ({ ledger, limits }) => {
      const now = instantOf(clock.now())
      ledger.prune([periodOf('day', now), periodOf('month', now)])
      return snapshotJson({ teams: [...limits.keys()], ledger: ledger.content() })
    },
    decode: async (encoded) => {
      const found = snapshotIn(encoded)
      if (found === undefined) return undefined
      const limits: Costs['limits'] = new Map()
      for (const team of found.teams)
        for await (const event of eventStore.readStream(limitsStream(team), { withUnreadable: true }))
          if (event.unreadable === undefined) evolveLimits(limits, event)
      return { ledger: new Ledger(found.ledger), limits, call: undefined }
    },
  },
})

/** A snapshot has the limits of a team with later events, which are delivered again. An unreadable event is left out. */
const evolveLimits = (known: Costs['limits'], { stream, revision, type, data }: RecordedEvent): void => {
  const team = stream.slice(LIMITS_PREFIX.length)
  const { limits, next } = known.get(team) ?? { limits: noLimits(), next: 0n }
  if (revision < next) return
  const event = { type, data } as LimitEvent
  known.set(team, { limits: limitDecider.evolve(limits, event), next: revision + 1n })
}

export const followLedger = async (given: Following): Promise<LedgerFollower> => {
  const reactor = await startReactor(costsReactor(given), given, SAVE_EVERY_MS)
  const { ledger, limits } = reactor.state()
  return {
    ledger,
    limitsOf: (team) => limits.get(team)?.limits ?? noLimits(),
    isReady: reactor.isCaughtUp,
    ready: reactor.caughtUp,
    reached: reactor.waitFor,
    progress: () => ({ position: reactor.position(), head: reactor.head }),
    stop: reactor.stop,
  }
}
