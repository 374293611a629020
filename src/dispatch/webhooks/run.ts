import { setMaxListeners } from 'node:events'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import { cachedPatterns } from '../../kernel/patterns.js'
import type { MessageNames } from '../../domain/webhooks/automations/matching/variables.js'
import type { AttemptRecords } from '../../kernel/ports/attempt-records.js'
import type { HmacSha256 } from '../../kernel/ports/hmac.js'
import type { Log } from '../../kernel/ports/log.js'
import type { WebhookMetrics } from '../../kernel/ports/metrics.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { CompilePattern } from '../../kernel/ports/patterns.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { SecretStore } from '../../kernel/ports/secret-store.js'
import type { WebhookSender } from '../../kernel/ports/webhook-sender.js'
import { eventApplier } from './apply-event.js'
import { attempt, type AttemptDeps } from './attempt.js'
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
import { isIgnoredBy, matching } from './matching.js'
import type { Measures } from './measures.js'
import { messagePreparer } from './message.js'
import { openMetricValues } from './metric-values.js'
import { openOutbox } from './outbox.js'
import { openPrices } from './prices.js'
import type { AttemptRecordWriter } from './attempt-records.js'
import { openScheduler, type Scheduler, type SchedulerPorts } from './scheduler.js'
import { secretValues } from './secret-values.js'
import { openSecretVersions } from './secret-versions.js'
import { rememberedTemplates } from './templates.js'
import { startTicks } from './ticks.js'

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

/** A smaller correction of the clock delays nothing noticeably. */
const MIN_CLOCK_CORRECTION_MS = 500
const LOG_PROGRESS_EVERY_MS = 5000
/** Counting takes long when very many deliveries wait. */
const MEASURE_EVERY_MS = 15_000
/** Until then the result of an attempt that the log has should be applied. */
const APPLIED_WITHIN_MS = 5000

export const startRun = async (ports: DispatcherPorts, options: RunOptions): Promise<DispatcherRun> => {
  const { eventStore, state, log } = ports
  const { isAlone, measures, records } = options
  const now = () => ports.clock.now().getTime()
  const startedAt = now()
  const clockSetBackBy = watchingClock(now)
  const head = await eventStore.head()
  if (!(await isOfLog(state, eventStore))) state.clear()

  const context: RunContext = { ports, options, now, ...openLifetime() }
  const { ending, fail } = context
  const parts = openParts(context, (position) => follower.waitFor(position, APPLIED_WITHIN_MS))
  const { scheduler } = parts
  let isLive = false
  const goLive = async () => {
    if (isLive) return
    follower.commit()
    await startSending(parts)
    isLive = true
    options.onCaughtUp()
    if (now() - startedAt >= LOG_PROGRESS_EVERY_MS)
      log.info('dispatcher.caught_up', { position: String(follower.position()) })
  }
  const follower = followInto({
    eventStore,
    state,
    skipped: options.skipped,
    log,
    isIgnored: isIgnoredBy(parts.automations),
    prepare: eventApplier({ ...ports, ...parts, measures, match: openMatching(context, parts) }),
    onCaughtUp: () => goLive().catch(fail),
    onProgress: () => ticks.noteProgress(),
    onStateFailure: fail,
    signal: ending.signal,
  })

  const reportLag = watchingLag({ eventStore, isAlone, position: follower.position, tell: measures.behind })
  const isProgressDue = atMostEvery(LOG_PROGRESS_EVERY_MS, startedAt)
  const isMeasureDue = atMostEvery(MEASURE_EVERY_MS, 0)
  const tick = () => {
    records.prune(now())
    reportLag(now())
    if (!isLive) {
      if (isProgressDue(now()))
        log.info('dispatcher.catching_up', { position: String(follower.position()), of: String(head) })
      return
    }
    adjustToClock(parts, clockSetBackBy())
    parts.health.flush(now())
    parts.recordLostAttempts().catch(fail)
    if (isMeasureDue(now())) reportQueues(context, parts)
  }
  const isIdle = () => isLive && isAlone && scheduler.isIdle()
  const ticks = startTicks({ tick, isIdle, onFailure: fail, signal: ending.signal })

  return {
    failed: context.failed,
    stop: async (finishWithinMs) => {
      ticks.stop()
      const abort = () => context.aborting.abort()
      const timer = finishWithinMs === undefined ? undefined : setTimeout(abort, finishWithinMs)
      await scheduler.stop()
      clearTimeout(timer)
      follower.commit()
      ending.abort()
      await follower.stopped
      context.settle(undefined)
    },
  }
}

/** How a run ends: all but the attempts by `ending`, the attempts by `aborting`. */
const openLifetime = () => {
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
  return { ending, aborting, failed, settle, fail }
}

interface RunContext extends ReturnType<typeof openLifetime> {
  readonly ports: DispatcherPorts
  readonly options: RunOptions
  readonly now: () => number
}

type Parts = ReturnType<typeof openParts>

/** What the follower applies events to. `applied` resolves once it has applied the event at a position. */
const openParts = (context: RunContext, applied: (position: Position) => Promise<unknown>) => {
  const { ports, options } = context
  const { eventStore, state } = ports
  const stores = {
    endpoints: openEndpointStore(state),
    automations: openAutomations(state),
    prices: openPrices(state),
    secrets: openSecretVersions(state),
    deliveries: openDeliveries(eventStore, state),
    templates: rememberedTemplates(),
  }
  const endpoint = stores.endpoints.get
  const outbox = openOutbox(state, { ...ports, onFailure: context.fail, signal: context.ending.signal })
  const health = reportingHealth({ ...ports, endpoint })
  const scheduler: Scheduler = openScheduler({
    state,
    clock: ports.clock,
    endpoint,
    attempt: openAttempts(context, stores),
    applied,
    onFailure: context.fail,
    cancelAll: canceling(ports, state, (webhook) => scheduler.wake(webhook)),
  })
  const recordLostAttempts = recordingLostAttempts({
    ...ports,
    instance: options.instance,
    isAlone: options.isAlone,
    webhook: endpoint,
    isRunning: scheduler.isRunning,
    onLost: options.measures.unknown,
  })
  return { ...stores, outbox, health, scheduler, recordLostAttempts }
}

/** Attempts whose results are measured, and disable webhooks. */
const openAttempts = (
  { ports, options, now, aborting }: RunContext,
  {
    endpoints,
    deliveries,
    templates,
    secrets,
  }: Pick<Parts, 'endpoints' | 'deliveries' | 'templates' | 'secrets'>,
): SchedulerPorts['attempt'] => {
  const { instance, measures, records, vendor } = options
  const disable = disabling(ports, endpoints.get)
  const deps: AttemptDeps = {
    ...ports,
    instance,
    scheduled: deliveries.scheduled,
    webhook: endpoints.get,
    keep: records.keep,
    prepare: messagePreparer({ ...ports, templates, secrets: secretValues(ports.secrets, secrets), vendor }),
  }
  return async (claimed, endpoint, onAnswer) => {
    measures.started(claimed, now())
    const ended = await attempt(deps, claimed, endpoint, aborting.signal, onAnswer)
    if (ended.kind !== 'answered') return ended
    measures.answered(ended, now())
    disable(ended, claimed, now())
    return ended
  }
}

const openMatching = ({ ports, options }: RunContext, { automations, prices, templates }: Parts) =>
  matching({
    eventStore: ports.eventStore,
    state: ports.state,
    automations,
    prices,
    templates,
    values: openMetricValues(withWholeHistory(ports.eventStore, ports.blobs)),
    whole: wholeHistory(ports.blobs),
    pattern: cachedPatterns(ports.compilePattern),
    names: { vendor: options.vendor, publicUrl: options.publicUrl },
  })

const startSending = async ({ endpoints, outbox, health, scheduler, recordLostAttempts }: Parts) => {
  outbox.open()
  await recordLostAttempts()
  scheduler.start()
  for (const { id } of endpoints.all()) health.note(id)
}

const reportQueues = ({ ports, options, now }: RunContext, { endpoints, scheduler }: Parts): void => {
  const { pending, retrying, oldestDue } = ports.state.counts()
  const breakers = { closed: 0, open: 0 }
  for (const { breaker } of endpoints.all()) breakers[breaker.phase === 'closed' ? 'closed' : 'open'] += 1
  options.measures.queues({
    pending,
    retrying,
    inFlight: scheduler.running(),
    oldestDueMs: oldestDue === undefined ? 0 : Math.max(0, now() - oldestDue),
    breakers,
    quarantined: options.skipped.count(),
  })
}

/** Says by how much the clock was set back since the last call. */
const watchingClock = (now: () => number) => {
  let last = { wall: now(), monotonic: performance.now() }
  return (): number => {
    const before = last
    last = { wall: now(), monotonic: performance.now() }
    return before.wall - last.wall + last.monotonic - before.monotonic
  }
}

const adjustToClock = ({ endpoints, scheduler }: Parts, setBackBy: number): void => {
  if (Math.abs(setBackBy) < MIN_CLOCK_CORRECTION_MS) return
  if (setBackBy > 0)
    for (const { id } of [...endpoints.all()])
      endpoints.update(id, (endpoint) => endpoint && afterClockSetBack(endpoint, setBackBy))
  scheduler.restartWaits()
}

/** Says whether the time since it last said so, or since `from`, has reached `ms`. */
const atMostEvery = (ms: number, from: number) => {
  let last = from
  return (now: number): boolean => {
    const isDue = now - last >= ms
    if (isDue) last = now
    return isDue
  }
}
