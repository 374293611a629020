import { cachedPatterns } from '../../kernel/patterns.js'
import type { AttemptRecords } from '../../kernel/ports/attempt-records.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { HmacSha256 } from '../../kernel/ports/hmac.js'
import type { Log } from '../../kernel/ports/log.js'
import type { WebhookMetrics } from '../../kernel/ports/metrics.js'
import type { CompilePattern } from '../../kernel/ports/patterns.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { SecretStore } from '../../kernel/ports/secret-store.js'
import type { WebhookSender } from '../../kernel/ports/webhook-sender.js'
import { openAnchor } from './anchor.js'
import { attempt } from './attempt.js'
import { openAutomations } from './automations.js'
import { blamingReads, blamingState } from './blame.js'
import { canceling } from './canceling.js'
import { committing } from './committing.js'
import { openCompany } from './company.js'
import { openDirectory } from './directory.js'
import { disabling } from './disabling.js'
import { folding } from './following.js'
import { watchingLag } from './lag.js'
import { reportingHealth } from './health.js'
import { openLedger } from './ledger.js'
import { readLog } from './log-reading.js'
import { losing } from './lost-attempts.js'
import { matching } from './matching.js'
import { measuring } from './measures.js'
import { preparing } from './message.js'
import { openMetricValues } from './metric-values.js'
import { openOutbox } from './outbox.js'
import { openPrices } from './prices.js'
import { keepingRecords } from './record-keeping.js'
import { secretValues } from './secret-values.js'
import { openQuarantine } from './quarantine.js'
import { openSecretVersions } from './secret-versions.js'
import { openSender } from './sending.js'
import { rememberedTemplates } from './templates.js'

export interface DispatcherPorts extends Pick<Ports, 'eventStore' | 'clock' | 'ids' | 'sha256'> {
  readonly state: DispatcherState
  readonly records: AttemptRecords
  readonly secrets: Pick<SecretStore, 'get'>
  readonly sender: WebhookSender
  readonly hmac: HmacSha256
  readonly compilePattern: CompilePattern
  readonly log: Log
  readonly metrics?: WebhookMetrics | undefined
}

export interface DispatcherOptions {
  /** Part of header names, in this case: `Vendor` gives `X-Vendor-Signature`. */
  readonly vendor: string
  /** Nobody but this process can have the log open. */
  readonly isAlone: boolean
}

export interface Dispatcher {
  /** Resolves once it has read the log to its end for the first time, and sends. */
  readonly caughtUp: Promise<void>
  /** Begins nothing any more, gives what is under way so long to finish, and says of the rest that nobody knows. */
  readonly stop: (finishWithinMs?: number) => Promise<void>
}

const TICK_MS = 1000
/** Smaller corrections of the clock delay nothing noticeably. */
const CORRECTION_MS = 500
const FINISH_WITHIN_MS = 8000
const TELL_EVERY_MS = 5000
/** Counting takes a while where very much waits. */
const MEASURE_EVERY_MS = 15_000

/** Follows the log from where it was, schedules what automations match, and sends what is due. */
export const startDispatcher = async (
  ports: DispatcherPorts,
  { vendor, isAlone }: DispatcherOptions,
): Promise<Dispatcher> => {
  const { eventStore, clock, log } = ports
  const state = blamingState(ports.state)
  const reads = blamingReads(eventStore)
  const instance = ports.ids.next()
  const measures = measuring(ports.metrics)
  const now = () => clock.now().getTime()
  const startedAt = now()
  let toldAt = startedAt
  let measuredAt = 0
  let ticked = { wall: startedAt, elapsed: performance.now() }
  const head = await eventStore.head()
  const anchor = openAnchor(state)
  if ((state.checkpoint() ?? 0n) > head || !(await anchor.isIn(eventStore))) state.clear()

  const distrust = (error: unknown) => reading.distrust(error)
  const directory = openDirectory(state)
  const automations = openAutomations(state)
  const prices = openPrices(state)
  const versions = openSecretVersions(state)
  const ledger = openLedger(reads, state, (webhook) => directory.get(webhook)?.hangs !== true)
  const company = openCompany()
  const outbox = openOutbox(state, { ...ports, company, distrust })
  const templates = rememberedTemplates()
  const keeping = keepingRecords(ports.records, log)
  const prepare = preparing({
    eventStore,
    templates,
    secrets: secretValues(ports.secrets, versions),
    hmac: ports.hmac,
    sha256: ports.sha256,
    vendor,
  })
  const disable = disabling(ports, directory)
  const attempting = {
    ...ports,
    instance,
    scheduled: ledger.scheduled,
    webhook: directory.get,
    prepare,
    keep: keeping.keep,
    company,
  }
  const sender = openSender({
    state,
    directory,
    clock,
    attempt: (claimed, webhook, signal, heard) => {
      measures.started(claimed, now())
      return attempt(attempting, claimed, webhook, signal, heard)
    },
    onStateFailed: distrust,
    cancelAll: canceling(ports, state, (webhook) => sender.wake(webhook)),
    onAnswered: (ended, claimed) => {
      measures.answered(ended, now())
      disable(ended, claimed, now())
      health.note(claimed.delivery.webhook)
    },
  })
  const health = reportingHealth({ ...ports, directory, breakerOf: sender.breakerOf })
  const lose = losing({
    ...ports,
    instance,
    isAlone,
    webhook: directory.get,
    isUnderWay: sender.isUnderWay,
    onLost: measures.unknown,
  })
  const take = folding({
    sha256: ports.sha256,
    state,
    match: matching({
      eventStore: reads,
      state,
      automations,
      prices,
      values: openMetricValues(reads),
      templates,
      pattern: cachedPatterns(ports.compilePattern),
      vendor: vendor.toLowerCase(),
    }),
    directory,
    automations,
    prices,
    secrets: versions,
    ledger,
    outbox,
    sender,
    health,
    measures,
  })

  let isLive = false
  let announce: () => void = () => undefined
  const caughtUp = new Promise<void>((resolve) => (announce = resolve))
  const goLive = async () => {
    if (isLive) return
    reading.commit()
    outbox.open()
    await lose()
    sender.start()
    for (const id of directory.ids()) health.note(id)
    isLive = true
    announce()
    if (now() - startedAt >= TELL_EVERY_MS)
      log.info('dispatcher.caught_up', { position: String(reading.position()) })
  }
  const quarantine = openQuarantine(take, state, log)
  const reading = readLog({
    eventStore,
    state,
    take: async (event) => {
      await quarantine.take(event)
      anchor.note(event)
    },
    onCaughtUp: goLive,
    beforeCommit: (most) => {
      if (!outbox.settle(most)) return false
      anchor.settle()
      return true
    },
    // Nothing is written or sent by what is not known again yet.
    onRolledBack: () => {
      isLive = false
      outbox.forget()
      sender.pause()
      directory.readAgain()
      automations.readAgain()
    },
    log,
  })

  const lag = watchingLag({ eventStore, isAlone, position: reading.position, tell: measures.behind })
  const measure = () => {
    measuredAt = now()
    const { pending, retrying, oldestDue } = state.counts()
    measures.standing({
      pending,
      retrying,
      inFlight: sender.inFlight(),
      oldestDueMs: oldestDue === undefined ? 0 : Math.max(0, now() - oldestDue),
      breakers: sender.breakers(),
      quarantined: quarantine.count(),
    })
  }
  const heedClock = () => {
    const before = ticked
    ticked = { wall: now(), elapsed: performance.now() }
    const setBackBy = before.wall - ticked.wall + ticked.elapsed - before.elapsed
    if (setBackBy < CORRECTION_MS) return
    directory.clockSetBack(setBackBy)
    sender.clockSetBack(setBackBy)
  }
  const tick = () => {
    keeping.prune(now())
    lag(now())
    if (!isLive) {
      if (now() - toldAt >= TELL_EVERY_MS) {
        toldAt = now()
        log.info('dispatcher.catching_up', { position: String(reading.position()), of: String(head) })
      }
      return
    }
    heedClock()
    outbox.flush()
    health.flush(now())
    lose().catch(distrust)
    if (now() - measuredAt >= MEASURE_EVERY_MS) measure()
  }
  const stopCommitting = committing(reading)
  const ticking = setInterval(() => {
    try {
      tick()
    } catch (error) {
      distrust(error)
    }
  }, TICK_MS)

  return {
    caughtUp,
    stop: async (finishWithinMs = FINISH_WITHIN_MS) => {
      clearInterval(ticking)
      await sender.stop(finishWithinMs)
      await outbox.close()
      await reading.stop()
      stopCommitting()
      reading.commit()
      state.close()
      keeping.close()
    },
  }
}
