import { CANCELED } from './run-evaluation.js'
import type { EvaluationServices } from '../../application/evaluations/services.js'
import { RENEW_CLAIM_MS, workOn, type RunKey, type WorkOptions } from './work-on-run.js'

export interface RunQueue {
  /** Begins the run once fewer than the most are at work. Further calls for the same run do nothing. */
  readonly add: (run: RunKey) => void
  readonly cancel: (run: RunKey) => void
  /** Interrupts the runs at work; they continue when the process starts again. */
  readonly stop: () => Promise<void>
}

const MAX_RUNS = 4

export const keyOf = ({ project_id, id }: RunKey): string => `${project_id}/${id}`

/** Works on requested evaluation runs, a few at a time. */
export const openRunQueue = (services: EvaluationServices, options: WorkOptions): RunQueue => {
  const { renewClaimMs = RENEW_CLAIM_MS } = options
  const waiting = new Map<string, RunKey>()
  const atWork = new Map<string, { readonly cancel: AbortController; readonly done: Promise<void> }>()
  /** Claimed by other processes; looked at again later, in case that process was killed. */
  const elsewhere = new Map<string, NodeJS.Timeout>()
  const stopping = new AbortController()

  const begin = (key: string, run: RunKey) => {
    const cancel = new AbortController()
    const signals = {
      canceled: cancel.signal,
      stopping: stopping.signal,
      either: AbortSignal.any([cancel.signal, stopping.signal]),
    }
    const done = workOn(services, run, signals, options).then((outcome) => {
      atWork.delete(key)
      if (outcome === 'claimed elsewhere' && !stopping.signal.aborted)
        elsewhere.set(
          key,
          setTimeout(() => again(run), renewClaimMs),
        )
      next()
    })
    atWork.set(key, { cancel, done })
  }

  const next = () => {
    for (const [key, run] of waiting) {
      if (stopping.signal.aborted || atWork.size >= MAX_RUNS) return
      waiting.delete(key)
      begin(key, run)
    }
  }

  const add = (run: RunKey) => {
    const key = keyOf(run)
    if (!atWork.has(key) && !elsewhere.has(key)) waiting.set(key, run)
    next()
  }

  const again = (run: RunKey) => {
    clearTimeout(elsewhere.get(keyOf(run)))
    elsewhere.delete(keyOf(run))
    add(run)
  }

  return {
    add,
    // A run that is not at work yet finds the request to cancel it in its stream.
    cancel: (run) => {
      atWork.get(keyOf(run))?.cancel.abort(CANCELED)
      if (elsewhere.has(keyOf(run))) again(run)
    },
    stop: async () => {
      stopping.abort('stopped')
      for (const timer of elsewhere.values()) clearTimeout(timer)
      await Promise.all([...atWork.values()].map(({ done }) => done))
    },
  }
}
