import { instantOf } from '../../kernel/codec/instant.js'
import {
  evaluationDecider,
  evaluationStream,
  type EvaluationEvent,
} from '../../domain/evaluations/evaluation-run.js'
import type { Cause } from '../../kernel/event.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'
import { backoff } from '../../kernel/backoff.js'
import { evaluateModel } from './evaluate-model.js'
import { fail, finish } from './finish-run.js'
import { writeRun } from '../../application/evaluations/requested-runs.js'
import { RunFailed, type EvaluationServices } from '../../application/evaluations/services.js'
import { rescore } from './rescore.js'
import { CANCELED, type RunJob } from './run-evaluation.js'
import { isStoreAway } from './store-away.js'

export interface RunKey {
  readonly project_id: string
  readonly id: string
}

export interface WorkOptions {
  readonly instance: string
  /** No other process can have the log open, so a claim of another is of a process that has ended. */
  readonly isAlone: boolean
  readonly firstRetryMs?: number
  readonly renewClaimMs?: number
}

export const RENEW_CLAIM_MS = 60_000
const CLAIM_EXPIRES_MS = 3 * RENEW_CLAIM_MS
const FIRST_RETRY_MS = 500
const MAX_RETRY_MS = 30_000
/** Attempts after which a run fails. Unavailable stores do not count. */
const MAX_TRIES = 5

interface RunSignals {
  readonly canceled: AbortSignal
  readonly stopping: AbortSignal
  /** Either of them. */
  readonly either: AbortSignal
}

type Outcome = 'done' | 'claimed elsewhere'

/** Until the run is finished, another process works on it, or this process stops. Never rejects. */
export const workOn = async (
  services: EvaluationServices,
  run: RunKey,
  signals: RunSignals,
  options: WorkOptions,
): Promise<Outcome> => {
  const { firstRetryMs = FIRST_RETRY_MS } = options
  let failures = 0
  let faults = 0
  let reason = ''
  while (!signals.stopping.aborted) {
    try {
      const outcome =
        faults < MAX_TRIES
          ? await attempt(services, run, signals, options)
          : await giveUp(services, run, reason)
      // A canceled run ends here, whichever process works on it: that process may have been killed.
      if (outcome === 'done' || !signals.canceled.aborted) return outcome
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error))
      failures += 1
      if (!isStoreAway(error)) faults += 1
      if (faults === MAX_TRIES) reason = message
      services.log.warn('evaluation.retrying', { run: run.id, error: name, message })
      if (faults >= 2 * MAX_TRIES) {
        services.log.warn('evaluation.stalled', { run: run.id, error: name })
        return 'done'
      }
      const signal = signals.canceled.aborted ? signals.stopping : signals.either
      await backoff(failures, { firstMs: firstRetryMs, maxMs: MAX_RETRY_MS, signal })
    }
  }
  return 'done'
}

const giveUp = async (services: EvaluationServices, run: RunKey, message: string): Promise<'done'> => {
  const loaded = await loadRun(services.eventStore, run)
  if (loaded !== undefined && !loaded.isFinished)
    await fail(services, loaded, `The service could not run the evaluation: ${message}`)
  return 'done'
}

const attempt = async (
  services: EvaluationServices,
  run: RunKey,
  { canceled, stopping, either }: RunSignals,
  options: WorkOptions,
): Promise<Outcome> => {
  const loaded = await loadRun(services.eventStore, run)
  if (loaded === undefined || loaded.isFinished) return 'done'
  if (loaded.isCanceled) {
    await fail(services, loaded, CANCELED)
    return 'done'
  }
  const claim = () => claimRun(services, run, loaded.cause, options)
  if (!(await claim())) return 'claimed elsewhere'
  const lost = new AbortController()
  const renew = async () => {
    if (!(await claim())) lost.abort('claimed by another process')
  }
  const renewing = options.isAlone
    ? undefined
    : setInterval(() => void renew().catch(() => undefined), options.renewClaimMs ?? RENEW_CLAIM_MS)
  try {
    const work = loaded.request.kind === 'rescore' ? rescore : evaluateModel
    const finished = await work(services, { ...loaded, signal: AbortSignal.any([either, lost.signal]) })
    await finish(services, finished, loaded.cause)
    return 'done'
  } catch (error) {
    if (stopping.aborted) return 'done'
    if (lost.signal.aborted) return 'claimed elsewhere'
    if (canceled.aborted) await fail(services, loaded, CANCELED)
    else if (error instanceof RunFailed)
      await fail(services, loaded, `The evaluation failed: ${error.message}.`)
    else throw error
    return 'done'
  } finally {
    clearInterval(renewing)
  }
}

/** False if another process works on the run, or it has finished. */
const claimRun = async (
  services: EvaluationServices,
  run: RunKey,
  cause: Cause,
  { instance, isAlone }: WorkOptions,
): Promise<boolean> => {
  const now = services.clock.now()
  const expired = isAlone ? new Date('2299-01-01') : new Date(now.getTime() - CLAIM_EXPIRES_MS)
  const command = {
    type: 'ClaimEvaluationRun',
    ...run,
    instance,
    now: instantOf(now),
    expiredBefore: instantOf(expired),
  } as const
  const { refusals } = await writeRun(services, command)(cause)
  return refusals.size === 0
}

interface LoadedRun extends Omit<RunJob, 'signal'> {
  readonly isCanceled: boolean
  readonly isFinished: boolean
}

const loadRun = async (
  eventStore: Pick<EventStore, 'readStream'>,
  { project_id, id }: RunKey,
): Promise<LoadedRun | undefined> => {
  let state = evaluationDecider.initialState()
  let first: RecordedEvent | undefined
  for await (const event of eventStore.readStream(evaluationStream(project_id, id))) {
    first ??= event
    state = evaluationDecider.evolve(state, event as unknown as EvaluationEvent)
  }
  const { request, isCanceled, finished } = state
  if (first === undefined || request === null) return undefined
  const { correlationId, actor } = first.metadata
  const cause: Cause = { correlationId, causationId: first.id, actor }
  return { request, cause, isCanceled, isFinished: finished !== null }
}
