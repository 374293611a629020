import { setMaxListeners } from 'node:events'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import { cachedPatterns } from '../../kernel/patterns.js'
import type { MessageNames } from '../../domain/webhooks/automations/matching/variables.js'
import type { AttemptRecords } from '../../kernel/ports/attempt-records.js'
import type { HmacSha256 } from '../../kernel/ports/hmac.js'
import type { Log } from '../../kernel/ports/log.js'
import type { WebhookMetrics } from '../../kernel/ports/metrics.js'
import type { CompilePattern } from '../../kernel/ports/patterns.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { SecretStore } from '../../kernel/ports/secret-store.js'
import type { WebhookSender } from '../../kernel/ports/webhook-sender.js'
import { eventApplier } from './apply-event.js'
import { attempt } from './attempt.js'
import { openAutomations } from './automations.js'
import { canceling } from './canceling.js'
import { openDeliveries } from './deliveries.js'
import { disabling } from './disabling.js'
import { afterClockSetBack } from './endpoint.js'
import { openEndpointStore } from './endpoint-store.js'
import { followInto, isOfLog, type SkippedEvents } from './follow.js'
import { reportingHealth } from './health.js'
import { watchingLag } from './lag.js'
import { recordingLostAttempts } from './lost-attempts.js'
import { wholeHistory, withWholeHistory } from '../../application/runs/whole-history.js'
import { matching } from './matching.js'
import type { Measures } from './measures.js'
import { messagePreparer } from './message.js'
import { openMetricValues } from './metric-values.js'
import { openOutbox } from './outbox.js'
import { openPrices } from './prices.js'
import type { AttemptRecordWriter } from './attempt-records.js'
import { openScheduler } from './scheduler.js'
import { secretValues } from './secret-values.js'
import { openSecretVersions } from './secret-versions.js'
import { rememberedTemplates } from './templates.js'

export interface DispatcherPorts extends Pick<Ports, 'eventStore' | 'blobs' | 'clock' | 'ids' | 'sha256'> {
  readonly state: DispatcherState
  readonly records: AttemptRecords
  readonly secrets: Pick<SecretStore, 'get'>
  readonly sender: WebhookSender
  readonly hmac: HmacSha256
  readonly compilePattern: CompilePattern
  readonly log: Log
  readonly metrics?: WebhookMetrics | undefined
}

export interface DispatcherOptions extends MessageNames {
  /** Only this process can have the log open. */
  readonly isAlone: boolean
}

interface RunOptions extends DispatcherOptions {
  readonly instance: string
  readonly measures: Measures
  readonly records: AttemptRecordWriter
  readonly skipped: SkippedEvents
  readonly onCaughtUp: () => void
}

/** All parts of the dispatcher over one state, until the state fails. */
export interface DispatcherRun {
  /** Resolves to the error if the state fails; to undefined at a stop. */
  readonly failed: Promise<unknown>
  /** Attempts that have not ended after the time are aborted; without it, they are waited for. */
  readonly stop: (finishWithinMs?: number) => Promise<void>
}

const TICK_MS = 1000
/** While nothing is scheduled and the log has not grown for `QUIET_AFTER_MS`, ticks only follow the clock and prune. */
const QUIET_TICK_MS = 30_000
/** Longer than the health of a webhook waits to be reported. */
const QUIET_AFTER_MS = 75_000
/** A smaller correction of the clock delays nothing noticeably. */
const MIN_CLOCK_CORRECTION_MS = 500
const LOG_PROGRESS_EVERY_MS = 5000
/** Counting takes long when very many deliveries wait. */
const MEASURE_EVERY_MS = 15_000
/** Until then the result of an attempt that the log has should be applied. */
const APPLIED_WITHIN_MS = 5000

export const startRun = async (ports: DispatcherPorts, options: RunOptions): Promise<DispatcherRun> => {
  const { eventStore, state, clock, log, sha256 } = ports
  const { vendor, publicUrl, isAlone, instance, measures, records, skipped } = options
  const now = () => clock.now().getTime()
  const startedAt = now()
  const head = await eventStore.head()
  if (!(await isOfLog(state, eventStore))) state.clear()

  const ending = new AbortController()
  const aborting = new AbortController()
  // Each attempt listens to it.
  setMaxListeners(0, aborting.signal)
  let settle: (error: unknown) => void = () => undefined
  const failed = new Promise<unknown>((resolve) => (settle = resolve))
  const fail = (error: unknown) => {
    ending.abort()
    settle(error)
  }

  const endpoints = openEndpointStore(state)
  const automations = openAutomations(state)
  const prices = openPrices(state)
  const secrets = openSecretVersions(state)
  const deliveries = openDeliveries(eventStore, state)
  const templates = rememberedTemplates()
  const outbox = openOutbox(state, { ...ports, onFailure: fail, signal: ending.signal })
  const disable = disabling(ports, endpoints.get)
  const health = reportingHealth({ ...ports, endpoint: endpoints.get })
  const attemptDeps = {
    ...ports,
    instance,
    scheduled: deliveries.scheduled,
    webhook: endpoints.get,
    keep: records.keep,
    prepare: messagePreparer({ ...ports, templates, secrets: secretValues(ports.secrets, secrets), vendor }),
  }
  const scheduler = openScheduler({
    state,
    clock,
    endpoint: endpoints.get,
    attempt: async (claimed, endpoint, onAnswer) => {
      measures.started(claimed, now())
      const ended = await attempt(attemptDeps, claimed, endpoint, aborting.signal, onAnswer)
      if (ended.kind !== 'answered') return ended
      measures.answered(ended, now())
      disable(ended, claimed, now())
      return ended
    },
    applied: (position) => follower.waitFor(position, APPLIED_WITHIN_MS),
    onFailure: fail,
    cancelAll: canceling(ports, state, (webhook) => scheduler.wake(webhook)),
  })
  const recordLostAttempts = recordingLostAttempts({
    ...ports,
    instance,
    isAlone,
    webhook: endpoints.get,
    isRunning: scheduler.isRunning,
    onLost: measures.unknown,
  })

  let progressedAt = performance.now()
  let ticks: { readonly timer?: NodeJS.Timeout; readonly isQuiet: boolean } = { isQuiet: false }
  let isStopping = false
  let isLive = false
  const goLive = async () => {
    if (isLive) return
    follower.commit()
    outbox.open()
    await recordLostAttempts()
    scheduler.start()
    for (const { id } of endpoints.all()) health.note(id)
    isLive = true
    options.onCaughtUp()
    if (now() - startedAt >= LOG_PROGRESS_EVERY_MS)
      log.info('dispatcher.caught_up', { position: String(follower.position()) })
  }
  const follower = followInto({
    eventStore,
    state,
    skipped,
    log,
    prepare: eventApplier({
      sha256,
      state,
      match: matching({
        eventStore,
        state,
        automations,
        prices,
        templates,
        values: openMetricValues(withWholeHistory(eventStore, ports.blobs)),
        whole: wholeHistory(ports.blobs),
        pattern: cachedPatterns(ports.compilePattern),
        names: { vendor, publicUrl },
      }),
      endpoints,
      automations,
      prices,
      secrets,
      deliveries,
      outbox,
      scheduler,
      health,
      measures,
    }),
    onCaughtUp: () => goLive().catch(fail),
    onProgress: () => {
      progressedAt = performance.now()
      if (ticks.isQuiet) tickAfter(TICK_MS)
    },
    onStateFailure: fail,
    signal: ending.signal,
  })

  const reportLag = watchingLag({ eventStore, isAlone, position: follower.position, tell: measures.behind })
  const reportQueues = () => {
    const { pending, retrying, oldestDue } = state.counts()
    const breakers = { closed: 0, open: 0 }
    for (const { breaker } of endpoints.all()) breakers[breaker.phase === 'closed' ? 'closed' : 'open'] += 1
    measures.queues({
      pending,
      retrying,
      inFlight: scheduler.running(),
      oldestDueMs: oldestDue === undefined ? 0 : Math.max(0, now() - oldestDue),
      breakers,
      quarantined: skipped.count(),
    })
  }
  let clocks = { wall: startedAt, monotonic: performance.now() }
  const adjustToClock = () => {
    const before = clocks
    clocks = { wall: now(), monotonic: performance.now() }
    const setBackBy = before.wall - clocks.wall + clocks.monotonic - before.monotonic
    if (Math.abs(setBackBy) < MIN_CLOCK_CORRECTION_MS) return
    if (setBackBy > 0)
      for (const { id } of [...endpoints.all()])
        endpoints.update(id, (endpoint) => endpoint && afterClockSetBack(endpoint, setBackBy))
    scheduler.restartWaits()
  }
  let reportedAt = startedAt
  let measuredAt = 0
  const tick = () => {
    records.prune(now())
    reportLag(now())
    if (!isLive) {
      if (now() - reportedAt < LOG_PROGRESS_EVERY_MS) return
      reportedAt = now()
      log.info('dispatcher.catching_up', { position: String(follower.position()), of: String(head) })
      return
    }
    adjustToClock()
    health.flush(now())
    recordLostAttempts().catch(fail)
    if (now() - measuredAt < MEASURE_EVERY_MS) return
    measuredAt = now()
    reportQueues()
  }
  const tickAfter = (ms: number) => {
    clearTimeout(ticks.timer)
    if (isStopping || ending.signal.aborted) return
    const timer = setTimeout(() => {
      try {
        tick()
      } catch (error) {
        fail(error)
      }
      const isQuiet =
        isLive && isAlone && scheduler.isIdle() && performance.now() - progressedAt > QUIET_AFTER_MS
      tickAfter(isQuiet ? QUIET_TICK_MS : TICK_MS)
    }, ms)
    ticks = { timer, isQuiet: ms > TICK_MS }
  }
  tickAfter(TICK_MS)

  return {
    failed,
    stop: async (finishWithinMs) => {
      isStopping = true
      clearTimeout(ticks.timer)
      const abort = () => aborting.abort()
      const timer = finishWithinMs === undefined ? undefined : setTimeout(abort, finishWithinMs)
      await scheduler.stop()
      clearTimeout(timer)
      follower.commit()
      ending.abort()
      await follower.stopped
      settle(undefined)
    },
  }
}
