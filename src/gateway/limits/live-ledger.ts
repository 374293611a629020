import type { GatewayCall } from '../../domain/gateway/budgets/gateway-call.js'
import { Ledger } from '../../domain/gateway/budgets/ledger.js'
import { periodOf } from '../../domain/gateway/budgets/periods.js'
import { anchorOf, snapshotIn, snapshotText, type Snapshot } from '../../domain/gateway/budgets/snapshot.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { TeamLimits } from '../../domain/gateway/limits/decider.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Snapshots } from '../../kernel/ports/snapshots.js'
import { findAnchor, followLog, type LogAnchor } from '../../kernel/follow-log.js'
import { within } from '../../kernel/within.js'
import { FollowedLimits } from './followed-limits.js'

export interface LedgerPorts extends Pick<Ports, 'eventStore' | 'ids' | 'clock'> {
  readonly snapshots: Snapshots
  readonly log: Log
}

/** The money and the limits of completions as this process knows them: it follows the log. */
export interface LiveLedger {
  readonly ledger: Ledger
  readonly limitsOf: (team: string) => TeamLimits
  /** Whether it has read the log to its end once; until then nothing it knows can be relied on. */
  readonly isReady: () => boolean
  /** Resolves once it has, or after so long. */
  readonly ready: (withinMs: number) => Promise<void>
  /** Where it has read to, or so far after so long. */
  readonly reached: (position: Position, withinMs: number) => Promise<void>
  /** How far it is before it is ready. */
  readonly progress: () => { readonly position: Position; readonly head: Position }
  /** Stops following, and puts down what it knows. */
  readonly stop: () => Promise<void>
}

interface Following extends LedgerPorts {
  /** Told of completions that the log speaks of, once the log was read to its end. */
  readonly onCall: (call: GatewayCall) => void
}

const SNAPSHOT_EVENTS = 20_000
const SNAPSHOT_MS = 60_000
const TELL_EVERY_MS = 5000

export const openLedger = async (given: Following): Promise<LiveLedger> => {
  const { eventStore, snapshots, clock, log } = given
  const found = await usableSnapshot(given)
  const limits = await FollowedLimits.of(eventStore, found?.teams ?? [])
  const ledger = new Ledger(found?.ledger)
  let position: Position = found?.position ?? 0n
  let anchor: LogAnchor | undefined = found?.anchor
  const head = await eventStore.head()
  let isReady = position >= head
  let becomeReady = (): void => undefined
  const ready = new Promise<void>((resolve) => {
    becomeReady = () => {
      isReady = true
      resolve()
    }
  })
  if (isReady) becomeReady()
  let toldAt = performance.now()
  let folded = 0
  let keptAt = toldAt
  let writing = Promise.resolve()
  const stopping = new AbortController()

  const keep = (): Promise<void> => {
    if (anchor === undefined || folded === 0) return writing
    folded = 0
    const now = instantOf(clock.now())
    keptAt = performance.now()
    const current = new Set([periodOf('day', now), periodOf('month', now)])
    const text = snapshotText({ position, anchor, teams: limits.teams(), ledger: ledger.content(current) })
    writing = writing
      .then(() => snapshots.write(text))
      .catch((error: unknown) => log.warn('ledger.snapshot_failed', { error: nameOf(error) }))
    return writing
  }

  const take = (event: RecordedEvent): void => {
    limits.take(event)
    const call = event.stream.startsWith('call-') ? ledger.take(event) : undefined
    position = event.position
    anchor = anchorOf(event)
    folded += 1
    if (call !== undefined && isReady) given.onCall(call)
  }

  const noteProgress = (): void => {
    if (position >= head) becomeReady()
    if (folded >= SNAPSHOT_EVENTS && performance.now() - keptAt >= SNAPSHOT_MS / 10) void keep()
    const now = performance.now()
    if (isReady || now - toldAt < TELL_EVERY_MS) return
    toldAt = now
    log.info('ledger.reading', { position: String(position), head: String(head) })
  }

  const follower = followLog({
    eventStore,
    after: position,
    onEvent: (event) => {
      take(event)
      noteProgress()
    },
    onCheckpoint: (checkpoint) => {
      position = checkpoint
      noteProgress()
    },
    onCaughtUp: () => becomeReady(),
    onError: (error) => log.error('ledger.subscription_failed', { error: nameOf(error) }),
    signal: stopping.signal,
  })
  const timer = setInterval(() => void keep(), SNAPSHOT_MS)
  timer.unref()

  return {
    ledger,
    limitsOf: (team) => limits.of(team),
    isReady: () => isReady,
    ready: async (withinMs) => {
      await within(withinMs, Promise.race([ready, follower.stopped]))
    },
    reached: async (wanted, withinMs) => {
      await follower.waitFor(wanted, withinMs)
    },
    progress: () => ({ position, head }),
    stop: async () => {
      clearInterval(timer)
      stopping.abort()
      await follower.stopped
      await keep()
    },
  }
}

/** What was put down last, where it is whole and of this log. */
const usableSnapshot = async ({ eventStore, snapshots, log }: LedgerPorts): Promise<Snapshot | undefined> => {
  const text = await snapshots.read()
  if (text === undefined) return undefined
  const snapshot = snapshotIn(text)
  if (snapshot !== undefined) {
    const event = await findAnchor(eventStore, snapshot.anchor)
    if (event !== undefined && event.position <= snapshot.position) return snapshot
  }
  log.warn('ledger.snapshot_rejected', {
    reason: 'the snapshot is corrupt or belongs to another log; the ledger is rebuilt from the log',
  })
  return undefined
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error)
