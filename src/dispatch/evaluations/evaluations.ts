import type { CallStarted } from '../../domain/calls/events.js'
import { isEvaluationRun } from '../../domain/evaluations/run-calls.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Snapshots } from '../../kernel/ports/snapshots.js'
import { followLog } from '../../kernel/follow-log.js'
import { recordLoggedRun } from './logged-run.js'
import type { EvaluationPorts } from './ports.js'
import { openRunQueue } from './run-queue.js'
import { loadState, LOG_START, placeOf, saveRegularly } from './saved-state.js'
import { isStoreAway } from './store-away.js'
import type { RunKey } from './work-on-run.js'

export interface Evaluations {
  readonly stop: () => Promise<void>
}

interface EvaluationsOptions {
  readonly instance: string
  readonly isAlone: boolean
}

/** Logged runs that have not ended. Beyond this, the oldest are no longer tracked. */
const MAX_LOGGED_RUNS = 10_000

/** Follows the log: works on evaluation runs that are requested, and records the end of runs that clients log. */
export const startEvaluations = async (
  ports: EvaluationPorts & { readonly snapshots: Snapshots },
  options: EvaluationsOptions,
): Promise<Evaluations> => {
  const { eventStore, log } = ports
  const loaded = await loadState(ports.snapshots, eventStore)
  const from = loaded?.place ?? LOG_START
  /** Requested and not finished. */
  const requested = new Map(runsIn(loaded?.state['requested']).map((run) => [keyOf(run), run]))
  /** Logged by clients, and not ended. */
  const logged = new Map(runsIn(loaded?.state['logged']).map((run) => [keyOf(run), run]))
  let place = from
  let isCaughtUp = false
  const queue = openRunQueue(ports, options)
  const stopping = new AbortController()

  const onRequested = (run: RunKey) => {
    requested.set(keyOf(run), run)
    if (isCaughtUp) queue.add(run)
  }
  const onCallStarted = ({ project_id, id, op_name, attributes }: CallStarted) => {
    const run = { project_id, id }
    if (!isEvaluationRun(op_name, attributes) || requested.has(keyOf(run))) return
    logged.set(keyOf(run), run)
    if (logged.size > MAX_LOGGED_RUNS) logged.delete(logged.keys().next().value!)
  }
  const onCallEnded = async (event: RecordedEvent) => {
    const run = runOf(event)
    if (!logged.has(keyOf(run))) return
    try {
      await recordLoggedRun(ports, run, event)
    } catch (error) {
      if (isStoreAway(error)) throw error
      // Trying again would keep the follower from all later events.
      const { name } = error instanceof Error ? error : new Error()
      log.warn('evaluation.logged_run_not_recorded', { run: run.id, error: name })
    }
    logged.delete(keyOf(run))
  }

  const take = (event: RecordedEvent): Promise<void> | undefined => {
    switch (event.type) {
      case 'CallStarted':
        onCallStarted(event.data as unknown as CallStarted)
        return undefined
      case 'CallEnded':
        return logged.size === 0 ? undefined : onCallEnded(event)
      case 'CallDeleted': {
        const run = runOf(event)
        logged.delete(keyOf(run))
        // Calls below a deleted run cannot be read, so recording more of them is wasted work.
        if (requested.has(keyOf(run))) queue.cancel(run)
        return undefined
      }
      case 'EvaluationRunRequested':
        onRequested(runOf(event))
        return undefined
      case 'EvaluationRunCancelRequested':
        queue.cancel(runOf(event))
        return undefined
      case 'EvaluationRunFinished':
        requested.delete(keyOf(runOf(event)))
        return undefined
      default:
        return undefined
    }
  }

  const follower = followLog({
    eventStore,
    after: from.position,
    onEvent: (event) => {
      const taken = take(event)
      // Saved only once the event is handled, so that it is handled again after a crash.
      const advance = () => void (place = placeOf(event))
      if (taken !== undefined) return taken.then(advance)
      advance()
      return undefined
    },
    onCaughtUp: () => {
      isCaughtUp = true
      for (const run of requested.values()) queue.add(run)
    },
    onError: (error) => {
      log.warn('evaluation.follow_failed', { error: error instanceof Error ? error.name : 'unknown' })
    },
    signal: stopping.signal,
  })

  const stopSaving = saveRegularly({
    snapshots: ports.snapshots,
    log,
    from,
    current: () => ({
      place,
      state: {
        requested: [...requested.values()].map((run) => ({ ...run })),
        logged: [...logged.values()].map((run) => ({ ...run })),
      },
    }),
  })

  return {
    stop: async () => {
      stopping.abort()
      await follower.stopped
      await queue.stop()
      await stopSaving()
    },
  }
}

const keyOf = ({ project_id, id }: RunKey): string => `${project_id}/${id}`

const runOf = ({ data }: Pick<RecordedEvent, 'data'>): RunKey => {
  const { project_id, id } = data as unknown as RunKey
  return { project_id, id }
}

const runsIn = (list: Json | undefined): readonly RunKey[] =>
  Array.isArray(list) ? (list as readonly Json[]).filter(isJsonObject).map((data) => runOf({ data })) : []
