import type { Clock } from '../../kernel/ports/clock.js'
import type { DispatcherState, OpenEntry } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { AnswerRead } from './answers.js'
import type { AttemptEnd, Claimed } from './attempt.js'
import { concurrencyLimits, type ConcurrencyLimits, type SlotRequest } from './concurrency-limits.js'
import { sendPermission, startedAfterReset, type Endpoint } from './endpoint.js'

export interface SchedulerPorts {
  readonly state: Pick<
    DispatcherState,
    'claimDue' | 'claimProbe' | 'unclaim' | 'nextDue' | 'waitingFor' | 'hasten' | 'restartWaits'
  >
  readonly endpoint: (id: string) => Endpoint | undefined
  readonly clock: Clock
  readonly limits?: ConcurrencyLimits
  /** `onAnswer` is called before the log has the result. */
  readonly attempt: (
    claimed: Claimed,
    endpoint: Endpoint,
    onAnswer: (answer: AnswerRead) => void,
  ) => Promise<AttemptEnd>
  /** Resolves once the event at the position was applied to the state, or after some seconds. */
  readonly applied: (position: Position) => Promise<unknown>
  readonly onFailure: (error: unknown) => void
  /** Cancels the messages of a deleted webhook. */
  readonly cancelAll: (webhook: string) => void
}

/**
 * Starts attempts: teams take turns, and in a team its webhooks; of a webhook the message that has been due longest. A
 * webhook's messages wait while its endpoint does not permit more, or a concurrency limit is reached.
 */
export interface Scheduler {
  /** A message of the webhook may be due. */
  readonly wake: (webhook: string) => void
  /** The webhook was changed, enabled or released: all its messages are due now. */
  readonly reset: (webhook: string) => void
  /** A user resends a message of the webhook, so what its receiver last asked for no longer counts. */
  readonly unpause: (webhook: string) => void
  /** The receiver works again: retries are due now, unless it asked for a later time. */
  readonly recover: (webhook: string) => void
  readonly isRunning: (deliveryId: string) => boolean
  /** The number of attempts in progress. */
  readonly running: () => number
  /** Whether no webhook has a message to send now or at a known time. */
  readonly isIdle: () => boolean
  readonly start: () => void
  /** The clock was set back: waits restart, so that each lasts at most its own length. */
  readonly restartWaits: () => void
  /** Starts no more attempts; resolves once all in progress have ended. */
  readonly stop: () => Promise<void>
}

const MINUTE_MS = 60_000
const MAX_SLEEP_MS = 3600_000
const RELEASED_AFTER_MS = 1000
const RECOVERED_AT_ONCE = 1000
/** How long a webhook that the receiver wants disabled is not used, until the log says that it is disabled. */
const DISABLED_WITHIN_MS = 2000

/** What this process knows about a webhook besides its endpoint. */
interface Local {
  started: number
  /** The rate limit permits the next attempt then, by the monotonic clock. */
  nextByRate: number
  /** Attempts whose answer asked for a pause that the endpoint does not know yet. */
  readonly holds: Set<string>
  /** Retries after this position become due as soon as nothing else is. */
  recovery: { readonly after: Position; readonly ignoresNotBefore: boolean } | undefined
}

export const openScheduler = (given: SchedulerPorts): Scheduler => {
  const { state, clock, limits = concurrencyLimits() } = given
  /** Attempts, by delivery. */
  const running = new Map<string, Promise<void>>()
  const locals = new Map<string, Local>()
  /** Webhooks that may have a message to send, by team. Both in the order of their turns. */
  const ready = new Map<string, Set<string>>()
  const timers = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>()
  let isStarted = false
  let isPumping = false

  const now = () => clock.now().getTime()
  const localOf = (webhook: string): Local => {
    const found = locals.get(webhook) ?? { started: 0, nextByRate: 0, holds: new Set(), recovery: undefined }
    locals.set(webhook, found)
    return found
  }
  const pumpSoon = () => {
    if (!isStarted || isPumping) return
    isPumping = true
    setImmediate(pump)
  }
  const wake = (webhook: string) => {
    const team = given.endpoint(webhook)?.team ?? ''
    const own = ready.get(team) ?? new Set()
    ready.set(team, own.add(webhook))
    pumpSoon()
  }
  const wakeAt = (webhook: string, at: number) => {
    const before = timers.get(webhook)
    if (before !== undefined && before.at <= at) return
    clearTimeout(before?.timer)
    const wakeNow = () => {
      timers.delete(webhook)
      wake(webhook)
    }
    const timer = setTimeout(wakeNow, Math.min(Math.max(0, at - now()), MAX_SLEEP_MS))
    timers.set(webhook, { at, timer })
  }
  const clearTimers = () => {
    for (const { timer } of timers.values()) clearTimeout(timer)
    timers.clear()
  }

  /** Makes the next waiting retries of a recovered webhook due; each at most once for a recovery. */
  const recoverNext = (webhook: string, local: Local): boolean => {
    if (local.recovery === undefined) return false
    const after = state.hasten(webhook, now(), { ...local.recovery, limit: RECOVERED_AT_ONCE })
    local.recovery = after === undefined ? undefined : { ...local.recovery, after }
    return after !== undefined
  }
  const claim = (webhook: string, local: Local, isProbe: boolean): OpenEntry | undefined => {
    if (isProbe) return state.claimProbe(webhook, now())
    // A quarter are retries while there are both, so that neither delays the other for long.
    const [first, second] =
      local.started % 4 === 3 ? (['retry', 'fresh'] as const) : (['fresh', 'retry'] as const)
    return state.claimDue(webhook, first, now()) ?? state.claimDue(webhook, second, now())
  }
  /** When the rate limit permits the next attempt, in milliseconds since 1970; undefined for now. */
  const rateLimitedUntil = ({ content }: Endpoint, { nextByRate }: Local): number | undefined => {
    const waitMs = content.max_per_minute === null ? 0 : nextByRate - performance.now()
    return waitMs > 0 ? now() + Math.ceil(waitMs) : undefined
  }
  /** The next message of a webhook; without one it is not ready, and woken when there may be one. */
  const nextOf = (endpoint: Endpoint): OpenEntry | undefined => {
    const { id, breaker } = endpoint
    const local = localOf(id)
    if (breaker.phase !== 'closed') local.recovery = undefined
    const permission = sendPermission(endpoint, limits.of(id), now())
    const until = permission.kind === 'wait' ? permission.until : rateLimitedUntil(endpoint, local)
    if (until !== undefined) wakeAt(id, until)
    if (permission.kind === 'wait' || until !== undefined || local.holds.size > 0) return undefined
    const isProbe = permission.kind === 'probe'
    let entry = claim(id, local, isProbe)
    while (entry === undefined && recoverNext(id, local)) entry = claim(id, local, isProbe)
    if (entry === undefined) {
      const due = state.nextDue(id)
      if (due !== undefined) wakeAt(id, Math.max(due, now() + 1))
    }
    return entry
  }

  const pumpOne = (): boolean => {
    for (const [team, webhooks] of ready) {
      if (limits.isTeamFull(team)) continue
      for (const id of webhooks) {
        const endpoint = given.endpoint(id)
        if (endpoint === undefined) given.cancelAll(id)
        const request = endpoint && slotRequest(endpoint)
        if (request !== undefined && !limits.hasRoom(request)) continue
        webhooks.delete(id)
        if (webhooks.size === 0) ready.delete(team)
        const entry = endpoint?.enabled === true ? nextOf(endpoint) : undefined
        if (endpoint === undefined || request === undefined || entry === undefined) continue
        // Last in turn from now on, both of them.
        ready.delete(team)
        ready.set(team, webhooks.add(id))
        start(entry as Claimed, endpoint, limits.acquire(request))
        return true
      }
    }
    return false
  }
  const pump = () => {
    isPumping = false
    try {
      while (isStarted && !limits.isFull() && pumpOne());
    } catch (error) {
      given.onFailure(error)
    }
  }

  const start = (claimed: Claimed, endpoint: Endpoint, release: () => void) => {
    const { id } = endpoint
    let hasSlot = true
    const releaseSlot = () => {
      if (hasSlot) release()
      hasSlot = false
      wake(id)
    }
    const local = localOf(id)
    const { max_per_minute: perMinute } = endpoint.content
    local.started += 1
    if (perMinute !== null)
      local.nextByRate = Math.max(local.nextByRate, performance.now()) + MINUTE_MS / perMinute
    const attempt = given
      .attempt(claimed, endpoint, (answer) => {
        const known = given.endpoint(id)
        if (known !== undefined && startedAfterReset(known, endpoint.revision) && asksForPause(answer))
          local.holds.add(claimed.id)
        // A success changes nothing for the next attempt, so that need not wait for the log.
        else if (known?.breaker.phase === 'closed' && !known.hangs && answer.receiverUp) releaseSlot()
      })
      .catch((): AttemptEnd => ({ kind: 'unknown' }))
      .then(async (ended) => {
        // After a failure the slot stays taken until the endpoint knows it, so that no attempt starts against it.
        if ('position' in ended && ended.position !== undefined) await given.applied(ended.position)
        running.delete(claimed.id)
        const isDisabling = ended.kind === 'answered' && ended.answer.disables !== null
        if (isDisabling) setTimeout(() => endHold(claimed), DISABLED_WITHIN_MS).unref()
        else endHold(claimed)
        if (ended.kind === 'fenced' || ended.kind === 'postponed' || ended.kind === 'unknown')
          unclaimLater(claimed)
        releaseSlot()
      })
      .catch(given.onFailure)
    running.set(claimed.id, attempt)
  }
  const endHold = ({ id, delivery: { webhook } }: Claimed) => {
    if (localOf(webhook).holds.delete(id)) wake(webhook)
  }
  /** If the log has an event of it, that arrives before; otherwise it is attempted again. */
  const unclaimLater = ({ id, delivery }: Claimed) => {
    setTimeout(() => {
      if (!isStarted) return
      try {
        state.unclaim(id)
        wake(delivery.webhook)
      } catch (error) {
        given.onFailure(error)
      }
    }, RELEASED_AFTER_MS).unref()
  }

  const restartWaits = () => {
    state.restartWaits(now())
    clearTimers()
    for (const webhook of state.waitingFor()) wake(webhook)
  }

  return {
    wake,
    reset: (webhook) => {
      const local = localOf(webhook)
      local.holds.clear()
      // While the log is being read again, this happened long ago.
      if (isStarted) local.recovery = { after: 0n, ignoresNotBefore: true }
    },
    unpause: (webhook) => localOf(webhook).holds.clear(),
    recover: (webhook) => {
      if (isStarted) localOf(webhook).recovery = { after: 0n, ignoresNotBefore: false }
    },
    start: () => {
      isStarted = true
      restartWaits()
    },
    restartWaits,
    isRunning: (deliveryId) => running.has(deliveryId),
    running: () => running.size,
    isIdle: () => running.size === 0 && ready.size === 0 && timers.size === 0,
    stop: async () => {
      isStarted = false
      clearTimers()
      await Promise.all(running.values())
    },
  }
}

const asksForPause = ({ throttledUntil, receiverUp, disables }: AnswerRead): boolean =>
  disables !== null || (throttledUntil !== null && !receiverUp)

const slotRequest = ({ id, team, content, hangs }: Endpoint): SlotRequest => ({
  webhook: id,
  team,
  host: hostOf(content.url),
  hangs,
})

/** Host and port of a webhook's URL. */
const hostOf = (url: string): string => {
  try {
    const { protocol, hostname, port } = new URL(url)
    return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`
  } catch {
    return url
  }
}
