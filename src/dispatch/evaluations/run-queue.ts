import { instantOf } from '../../domain/codec/instant.js'
import { evaluationDecider } from '../../domain/evaluation/decider.js'
import {
  evaluationStream,
  type EvaluationEvent,
  type EvaluationRunFinished,
  type EvaluationRunRequested,
} from '../../domain/evaluation/events.js'
import type { Cause } from '../../domain/event.js'
import type { EventStore, RecordedEvent } from '../../domain/ports/event-store.js'
import { AppendOutcomeUnknown, StoreUnavailable } from '../../domain/ports/event-store-errors.js'
import { backoff } from '../../runtime/backoff.js'
import { execute } from '../../runtime/execute.js'
import { CANCELED, isCanceled } from './canceled.js'
import { endOfCall } from './call-writes.js'
import { RunFailed, type EvaluationPorts } from './ports.js'
import { evaluateModel } from './evaluate-model.js'
import { rescore } from './rescore.js'
import { finishedRun, type RunJob } from './run-evaluation.js'

export interface RunKey {
  readonly project_id: string
  readonly id: string
}

export interface RunQueue {
  /** Begins the run once fewer than the most are at work. Further calls for the same run do nothing. */
  readonly add: (run: RunKey) => void
  readonly cancel: (run: RunKey) => void
  /** Interrupts the runs at work; they continue when the process starts again. */
  readonly stop: () => Promise<void>
}

interface QueueOptions {
  readonly instance: string
  /** No other process can have the log open, so a claim of another is of a process that has ended. */
  readonly isAlone: boolean
}

const MAX_RUNS = 4
const RENEW_CLAIM_MS = 60_000
const CLAIM_EXPIRES_MS = 3 * RENEW_CLAIM_MS
const BACKOFF = { firstMs: 500, maxMs: 30_000 }
/** Faults that are not those of a store that is away. */
const MAX_TRIES = 5

const keyOf = ({ project_id, id }: RunKey): string => `${project_id}/${id}`

/** Works on requested evaluation runs, a few at a time. */
export const openRunQueue = (ports: EvaluationPorts, { instance, isAlone }: QueueOptions): RunQueue => {
  const waiting = new Map<string, RunKey>()
  const atWork = new Map<string, { readonly abort: AbortController; readonly done: Promise<void> }>()
  let isStopped = false

  const next = () => {
    if (isStopped || atWork.size >= MAX_RUNS) return
    for (const [key, run] of waiting) {
      waiting.delete(key)
      const abort = new AbortController()
      const done = workOn(ports, run, abort.signal, { instance, isAlone }).finally(() => {
        atWork.delete(key)
        next()
      })
      atWork.set(key, { abort, done })
      if (atWork.size >= MAX_RUNS) return
    }
  }

  return {
    add: (run) => {
      const key = keyOf(run)
      if (!atWork.has(key)) waiting.set(key, run)
      next()
    },
    // A run that is not at work yet finds the request to cancel it in its stream.
    cancel: (run) => atWork.get(keyOf(run))?.abort.abort(CANCELED),
    stop: async () => {
      isStopped = true
      for (const { abort } of atWork.values()) abort.abort('stopped')
      await Promise.all([...atWork.values()].map(({ done }) => done))
    },
  }
}

/** Until the run is finished, or the signal says that this process stops. */
const workOn = async (
  ports: EvaluationPorts,
  run: RunKey,
  signal: AbortSignal,
  options: QueueOptions,
): Promise<void> => {
  for (let failures = 0; !signal.aborted || isCanceled(signal);) {
    try {
      return await attempt(ports, run, signal, options)
    } catch (error) {
      failures += 1
      const { name, message } = error instanceof Error ? error : new Error(String(error))
      ports.log.warn('evaluation.retrying', { run: run.id, error: name, message })
      if (failures >= MAX_TRIES && !isAway(error)) return giveUp(ports, run, message)
      await backoff(failures, { ...BACKOFF, signal })
    }
  }
}

/** Failing once more is for a later start of the process. */
const giveUp = async (ports: EvaluationPorts, run: RunKey, message: string): Promise<void> => {
  try {
    const loaded = await loadRun(ports.eventStore, run)
    if (loaded !== undefined)
      await fail(ports, loaded, `The service could not run the evaluation: ${message}`)
  } catch (error) {
    ports.log.warn('evaluation.stalled', {
      run: run.id,
      error: error instanceof Error ? error.name : 'unknown',
    })
  }
}

export const isAway = (error: unknown): boolean =>
  error instanceof StoreUnavailable ||
  error instanceof AppendOutcomeUnknown ||
  (error instanceof Error && error.name === 'ClickHouseUnavailable')

const attempt = async (
  ports: EvaluationPorts,
  run: RunKey,
  signal: AbortSignal,
  { instance, isAlone }: QueueOptions,
): Promise<void> => {
  const loaded = await loadRun(ports.eventStore, run)
  if (loaded === undefined || loaded.isFinished) return
  if (loaded.isCanceled) return fail(ports, loaded, CANCELED)
  const claim = () => {
    const now = ports.clock.now()
    const expiredBefore = isAlone
      ? instantOf(new Date('2299-01-01'))
      : instantOf(new Date(now.getTime() - CLAIM_EXPIRES_MS))
    const command = {
      type: 'ClaimEvaluationRun',
      ...run,
      instance,
      now: instantOf(now),
      expiredBefore,
    } as const
    return execute(ports)(
      evaluationDecider,
      evaluationStream(run.project_id, run.id),
      [command],
      loaded.cause,
    )
  }
  if ((await claim()).refusals.size > 0) return tryLater(ports, run, signal, { instance, isAlone })
  const renewing = isAlone
    ? undefined
    : setInterval(() => void claim().catch(() => undefined), RENEW_CLAIM_MS)
  try {
    const work = loaded.request.kind === 'rescore' ? rescore : evaluateModel
    const finished = await work(ports, { ...loaded, signal })
    await finish(ports, finished, loaded.cause)
  } catch (error) {
    if (isCanceled(signal)) return await fail(ports, loaded, CANCELED)
    if (signal.aborted) return
    if (error instanceof RunFailed)
      return await fail(ports, loaded, `The evaluation failed: ${error.message}.`)
    throw error
  } finally {
    clearInterval(renewing)
  }
}

/** Another process works on it, or did until it was killed. */
const tryLater = async (
  ports: EvaluationPorts,
  run: RunKey,
  signal: AbortSignal,
  options: QueueOptions,
): Promise<void> => {
  await backoff(1, { firstMs: RENEW_CLAIM_MS, maxMs: RENEW_CLAIM_MS, signal })
  if (!signal.aborted) await attempt(ports, run, signal, options)
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

const fail = async (
  ports: EvaluationPorts,
  { request, cause }: Pick<RunJob, 'request' | 'cause'>,
  exception: string,
): Promise<void> => {
  const { project_id: projectId, id } = request
  const endedAt = instantOf(ports.clock.now())
  const root = await ports.call(projectId, id)
  if (root !== undefined && root.ended_at === null)
    await ports.writeCalls([endOfCall({ projectId, id, endedAt, output: null, exception })], cause)
  await finish(
    ports,
    finishedRun(request, { ...(root ?? neverBegun(request)), output: null, exception }, endedAt),
    cause,
  )
}

const neverBegun = ({ requested_at }: EvaluationRunRequested) => ({
  display_name: null,
  inputs: {},
  started_at: requested_at,
  summary: {},
})

export const finish = async (
  ports: Pick<EvaluationPorts, 'eventStore' | 'ids'>,
  finished: EvaluationRunFinished,
  cause: Cause,
): Promise<void> => {
  const stream = evaluationStream(finished.project_id, finished.id)
  await execute(ports)(evaluationDecider, stream, [{ type: 'FinishEvaluationRun', finished }], cause)
}
