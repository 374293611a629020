import { setMaxListeners } from 'node:events'
import { millisOf } from '../../domain/webhooks/deliveries/times.js'
import type { CircuitBreaker } from '../../kernel/circuit-breaker.js'
import type { Clock } from '../../kernel/ports/clock.js'
import type { DispatcherState, OpenEntry } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { AnswerRead } from './answers.js'
import type { AttemptEnd, Claimed } from './attempt.js'
import type { Directory, KnownWebhook } from './directory.js'
import { afterUnknown, heeding, leaveOf, whileProbing, type Endpoint } from './endpoint.js'
import { openPace } from './pace.js'
import { openRotation, prefersRetries, type Ring } from './rotation.js'
import { openShares, type Shares } from './shares.js'
import { learnFrom, openStandings, type Standing, type Standings } from './standings.js'
import { openWakeUps } from './wake-ups.js'

interface Sending {
  readonly state: Pick<
    DispatcherState,
    'claimDue' | 'claimProbe' | 'unclaim' | 'nextDue' | 'waitingFor' | 'hasten' | 'restartWaits'
  >
  readonly directory: Pick<Directory, 'get'>
  readonly clock: Clock
  readonly attempt: (
    claimed: Claimed,
    webhook: KnownWebhook,
    signal: AbortSignal,
    heard: (answer: AnswerRead) => void,
  ) => Promise<AttemptEnd>
  /** What was claimed or learnt may be lost. */
  readonly onStateFailed: (error: unknown) => void
  /** Nobody receives these any more. */
  readonly cancelAll: (webhook: string) => void
  /** Told after each attempt that was answered, or ran out of time. */
  readonly onAnswered: (ended: Extract<AttemptEnd, { kind: 'answered' }>, claimed: Claimed) => void
  readonly shares?: Shares
}

/** Sends what is due, to each endpoint in its turn and as much as it bears. */
export interface Sender {
  /** Something may be due for a webhook. */
  readonly wake: (webhook: string) => void
  /** Forgets what was learnt of a webhook's receiver, and makes what waits for it due. */
  readonly reset: (webhook: string) => void
  /** Sends again, also before the time that the receiver asked for. */
  readonly closeBreaker: (webhook: string) => void
  /** Everything that waits is looked at. */
  readonly start: () => void
  /** Restarts the waits that a clock that was set back would prolong. */
  readonly clockSetBack: (byMs: number) => void
  /** Begins nothing until it is started again. */
  readonly pause: () => void
  readonly isUnderWay: (deliveryId: string) => boolean
  readonly inFlight: () => number
  readonly breakers: Standings['breakers']
  readonly breakerOf: (webhook: string) => CircuitBreaker
  /** Begins nothing any more, and cuts off what has not ended after so many milliseconds. */
  readonly stop: (withinMs: number) => Promise<void>
}

const MINUTE_MS = 60_000
const POSTPONED_MS = 1000
const HASTENED_AT_ONCE = 1000

export const openSender = (given: Sending): Sender => {
  const { state, directory, clock } = given
  const shares = given.shares ?? openShares()
  const rotation = openRotation()
  const standings = openStandings((webhook) => directory.get(webhook)?.hangs === true)
  const underWay = new Map<string, Promise<void>>()
  const abort = new AbortController()
  // Every attempt listens to it.
  setMaxListeners(0, abort.signal)
  let isStarted = false
  let isPumping = false

  const now = () => clock.now().getTime()
  const pumpSoon = () => {
    if (!isStarted || isPumping) return
    isPumping = true
    setImmediate(pump)
  }
  const wake = (webhook: string) => {
    const known = directory.get(webhook)
    const hangs = known?.enabled === true && standings.of(webhook).endpoint.hangs
    rotation.add(webhook, { team: known?.team ?? '', hangs })
    pumpSoon()
  }
  const pace = openPace(pumpSoon)
  const wakeUps = openWakeUps(now, wake)

  /** Each one at most once after a recovery: one that fails again waits as long as all that fail. */
  const hastenNext = (webhook: string, standing: Standing, at: number): boolean => {
    const { hastening } = standing
    if (hastening === undefined) return false
    const after = state.hasten(webhook, at, { ...hastening, limit: HASTENED_AT_ONCE })
    standing.hastening = after === undefined ? undefined : { ...hastening, after }
    return after !== undefined
  }

  /** The next one of an endpoint that may go now; where there is none, the endpoint leaves until it is woken. */
  const nextOf = (webhook: KnownWebhook, standing: Standing): OpenEntry | undefined => {
    const at = now()
    // What a receiver asked for before this process began, or of another process, stands with the webhook.
    const leave = leaveOf(throttledAs(standing.endpoint, webhook), standing.inFlight, at)
    if (leave.kind === 'wait') {
      rotation.leave(webhook.id)
      if (leave.until !== undefined) wakeUps.at(webhook.id, leave.until)
      return undefined
    }
    const rateLimited = webhook.content.max_per_minute === null ? 0 : standing.sendAgainAt - performance.now()
    if (rateLimited > 0) {
      rotation.leave(webhook.id)
      wakeUps.at(webhook.id, at + Math.ceil(rateLimited))
      return undefined
    }
    const turns = prefersRetries(standing.sent)
      ? (['retry', 'fresh'] as const)
      : (['fresh', 'retry'] as const)
    const claim = () =>
      leave.kind === 'probe'
        ? state.claimProbe(webhook.id, at)
        : (state.claimDue(webhook.id, turns[0], at) ?? state.claimDue(webhook.id, turns[1], at))
    let entry = claim()
    while (entry === undefined && hastenNext(webhook.id, standing, at)) entry = claim()
    if (entry === undefined) {
      rotation.leave(webhook.id)
      const due = state.nextDue(webhook.id)
      if (due !== undefined) wakeUps.at(webhook.id, Math.max(due, at + 1))
    } else if (leave.kind === 'probe') standing.endpoint = whileProbing(standing.endpoint)
    return entry
  }

  const pumpOne = (): boolean => {
    const mayBeServed = (ring: Ring) => shares.hasRoomFor(ring) && !(ring.hangs && pace.isResting())
    for (const id of rotation.inTurn(mayBeServed)) {
      const webhook = directory.get(id)
      if (webhook?.enabled !== true) {
        rotation.leave(id)
        if (webhook === undefined) given.cancelAll(id)
        continue
      }
      const standing = standings.of(id)
      const { isNew, endpoint } = standing
      const host = hostOf(webhook.content.url)
      const claim = { team: webhook.team, host, hangs: endpoint.hangs, isNew }
      const mayHang = endpoint.hangs || (isNew && shares.hasManyNew(webhook.team))
      if (!shares.allows(claim) || (mayHang && pace.isResting())) continue
      const entry = nextOf(webhook, standing)
      if (entry === undefined) continue
      rotation.served(id)
      if (mayHang) pace.rest()
      begin(entry as Claimed, webhook, standing, shares.take(claim))
      return true
    }
    return false
  }

  const pump = () => {
    isPumping = false
    try {
      while (!abort.signal.aborted && isStarted && !shares.isFull() && pumpOne());
    } catch (error) {
      given.onStateFailed(error)
    }
  }

  const begin = (claimed: Claimed, webhook: KnownWebhook, standing: Standing, giveBack: () => void) => {
    standing.inFlight += 1
    standing.sent += 1
    const { max_per_minute: perMinute } = webhook.content
    if (perMinute !== null)
      standing.sendAgainAt = Math.max(standing.sendAgainAt, performance.now()) + MINUTE_MS / perMinute
    const sending = given
      .attempt(claimed, webhook, abort.signal, (answer) => {
        standing.endpoint = heeding(standing.endpoint, asksOf(answer), now())
      })
      .catch((): AttemptEnd => ({ kind: 'unknown' }))
      .then((ended) => {
        giveBack()
        standing.inFlight -= 1
        underWay.delete(claimed.id)
        learn(ended, claimed, standing)
        wake(webhook.id)
      })
      .catch(given.onStateFailed)
    underWay.set(claimed.id, sending)
  }

  const learn = (ended: AttemptEnd, claimed: Claimed, standing: Standing) => {
    const at = now()
    if (ended.kind !== 'answered') {
      standing.endpoint = afterUnknown(standing.endpoint, at)
      // What the log holds of it now arrives and takes its place; if nothing does, it is tried anew.
      if (ended.kind !== 'unsent') release(claimed)
      return
    }
    given.onAnswered(ended, claimed)
    const { verdict, receiverUp, timedOut, overloaded } = ended.answer
    if (verdict.result === 'dead' && verdict.reason === 'forbidden_address') {
      // It did not leave either, and neither will another one.
      standing.endpoint = afterUnknown(standing.endpoint, at)
      return
    }
    const { throttledUntil } = asksOf(ended.answer)
    learnFrom(standing, { receiverUp, timedOut, overloaded, throttledUntil }, at)
  }

  const release = ({ id, delivery }: Claimed) => {
    setTimeout(() => {
      if (abort.signal.aborted || underWay.has(id)) return
      try {
        state.unclaim(id)
        wake(delivery.webhook)
      } catch (error) {
        given.onStateFailed(error)
      }
    }, POSTPONED_MS).unref()
  }

  const restartWaits = () => {
    state.restartWaits(now())
    wakeUps.stop()
    for (const webhook of state.waitingFor()) wake(webhook)
  }

  return {
    wake,
    reset: (webhook) => {
      if (directory.get(webhook) === undefined) return standings.forget(webhook)
      const standing = standings.reset(webhook)
      // While the log is read again, this happened long ago, and what waits keeps its times.
      if (isStarted) standing.hastening = { after: 0n, ignoresNotBefore: true }
    },
    closeBreaker: standings.closeBreaker,
    start: () => {
      isStarted = true
      restartWaits()
    },
    clockSetBack: (byMs) => {
      standings.clockSetBack(byMs)
      restartWaits()
    },
    pause: () => void (isStarted = false),
    isUnderWay: (deliveryId) => underWay.has(deliveryId),
    inFlight: () => underWay.size,
    breakers: standings.breakers,
    breakerOf: (webhook) => standings.of(webhook).endpoint.breaker,
    stop: async (withinMs) => {
      isStarted = false
      wakeUps.stop()
      pace.stop()
      const cut = setTimeout(() => abort.abort(), withinMs)
      await Promise.all(underWay.values())
      clearTimeout(cut)
      abort.abort()
    },
  }
}

const throttledAs = (endpoint: Endpoint, { throttledUntil }: KnownWebhook): Endpoint =>
  throttledUntil > endpoint.throttledUntil ? { ...endpoint, throttledUntil } : endpoint

const asksOf = ({ throttledUntil, receiverUp, disables }: AnswerRead) => ({
  throttledUntil: throttledUntil === null || receiverUp ? null : millisOf(throttledUntil),
  disables: disables !== null,
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
