import { Failure } from '../../application/failure.js'
import type { OnDisconnect } from '../../application/on-disconnect.js'

export interface InFlightCompletion {
  /** Aborted with the failure that the client gets, when the completion has to end early. */
  readonly signal: AbortSignal
  readonly abort: (failure: Failure) => void
  /** Also closes whatever is still open to an upstream. Idempotent. */
  readonly done: () => void
}

export const clientGone = new Failure('bad-request', 'The client closed the connection.')

const stopping = new Failure('overloaded', 'The service is stopping. Try again.', { retryAfter: 1 })

/** Shared abort reason: abort() without one creates an exception with a stack trace. */
const hasEnded = new Error('the completion has ended')

/** The completions of this process that have started and not ended. */
export class InFlightCompletions {
  private readonly controllers = new Set<AbortController>()
  private isStopping = false
  private waiters: (() => void)[] = []

  start(onDisconnect: OnDisconnect): InFlightCompletion {
    const controller = new AbortController()
    if (this.isStopping) controller.abort(stopping)
    const unsubscribe = onDisconnect(() => controller.abort(clientGone))
    this.controllers.add(controller)
    return {
      signal: controller.signal,
      abort: (failure) => controller.abort(failure),
      done: () => {
        this.controllers.delete(controller)
        this.wakeIfIdle()
        unsubscribe()
        controller.abort(hasEnded)
      },
    }
  }

  /** Aborts the completions in flight and all later ones. */
  stop(): void {
    this.isStopping = true
    for (const controller of this.controllers) controller.abort(stopping)
  }

  /** Resolves once none is in flight. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.waiters.push(resolve)
      this.wakeIfIdle()
    })
  }

  private wakeIfIdle(): void {
    if (this.controllers.size > 0) return
    for (const wake of this.waiters) wake()
    this.waiters = []
  }
}
