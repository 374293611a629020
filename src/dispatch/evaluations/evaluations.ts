import type { CallStarted } from '../../domain/calls/call.js'
import { isEvaluationRun } from '../../domain/evaluations/run-calls.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Snapshots } from '../../kernel/ports/snapshots.js'
import { startReactor, type Reactor } from '../../kernel/reactor.js'
import { recordLoggedRun } from './logged-run.js'
import type { EvaluationServices } from '../../application/evaluations/services.js'
import { keyOf, openRunQueue } from './run-queue.js'
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

/** Runs that have not finished. */
interface OpenRuns {
  readonly requested: Map<string, RunKey>
  /** Logged by clients. */
  readonly logged: Map<string, RunKey>
}

const evolve = (runs: OpenRuns, event: RecordedEvent): OpenRuns => {
  const { requested, logged } = runs
  switch (event.type) {
    case 'CallStarted': {
      const { op_name, attributes } = event.data as CallStarted
      if (!isEvaluationRun(op_name, attributes)) return runs
      const run = runOf(event)
      if (!requested.has(keyOf(run))) logged.set(keyOf(run), run)
      if (logged.size > MAX_LOGGED_RUNS) logged.delete(logged.keys().next().value!)
      return runs
    }
    case 'CallDeleted':
      if (logged.size > 0) logged.delete(keyOf(runOf(event)))
      return runs
    case 'EvaluationRunRequested': {
      const run = runOf(event)
      requested.set(keyOf(run), run)
      return runs
    }
    case 'EvaluationRunFinished': {
      const key = keyOf(runOf(event))
      requested.delete(key)
      logged.delete(key)
      return runs
    }
    default:
      return runs
  }
}

/** Follows the log: works on evaluation runs that are requested, and records the end of runs that clients log. */
export const startEvaluations = async (
  ports: EvaluationServices & { readonly snapshots: Snapshots },
  options: EvaluationsOptions,
): Promise<Evaluations> => {
  const queue = openRunQueue(ports, options)

  const recordEnd = async (event: RecordedEvent) => {
    const run = runOf(event)
    try {
      await recordLoggedRun(ports, run, event)
    } catch (error) {
      if (isStoreAway(error)) throw error
      // Trying again would keep the follower from all later events.
      const { name } = error instanceof Error ? error : new Error()
      ports.log.warn('evaluation.logged_run_not_recorded', { run: run.id, error: name })
    }
  }

  const react: Reactor<OpenRuns>['react'] = ({ requested, logged }, event, { isCaughtUp }) => {
    switch (event.type) {
      case 'CallEnded':
        return logged.size > 0 && logged.has(keyOf(runOf(event))) ? recordEnd(event) : undefined
      case 'CallDeleted':
        // Calls below a deleted run cannot be read, so recording more of them is wasted work.
        if (requested.has(keyOf(runOf(event)))) queue.cancel(runOf(event))
        return undefined
      case 'EvaluationRunRequested':
        if (isCaughtUp()) queue.add(runOf(event))
        return undefined
      case 'EvaluationRunCancelRequested':
        queue.cancel(runOf(event))
        return undefined
      default:
        return undefined
    }
  }

  const reactor = await startReactor({ ...openRuns, react }, ports)
  void reactor.caughtUp(Infinity).then((isCaughtUp) => {
    if (isCaughtUp) for (const run of reactor.state().requested.values()) queue.add(run)
  })
  return {
    stop: async () => {
      await reactor.stop()
      await queue.stop()
    },
  }
}

const openRuns: Omit<Reactor<OpenRuns>, 'react'> = {
  name: 'evaluations',
  types: new Set([
    'CallStarted',
    'CallEnded',
    'CallDeleted',
    'EvaluationRunRequested',
    'EvaluationRunCancelRequested',
    'EvaluationRunFinished',
  ]),
  initialState: () => ({ requested: new Map(), logged: new Map() }),
  evolve,
  snapshot: {
    encode: ({ requested, logged }) => ({
      requested: [...requested.values()].map((run) => ({ ...run })),
      logged: [...logged.values()].map((run) => ({ ...run })),
    }),
    decode: (encoded) =>
      isJsonObject(encoded)
        ? { requested: runsIn(encoded['requested']), logged: runsIn(encoded['logged']) }
        : undefined,
  },
}

const runOf = ({ data }: Pick<RecordedEvent, 'data'>): RunKey => {
  const { project_id, id } = data as unknown as RunKey
  return { project_id, id }
}

const runsIn = (list: Json | undefined): Map<string, RunKey> =>
  new Map(
    (Array.isArray(list) ? (list as readonly Json[]) : [])
      .filter(isJsonObject)
      .map((data) => runOf({ data }))
      .map((run) => [keyOf(run), run]),
  )
