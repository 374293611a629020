import { setMaxListeners } from 'node:events'
import type { Phases, SendError } from '../../../kernel/ports/webhook-sender.js'

/** Time limits of the phases, in milliseconds. */
export type Limits = Readonly<Record<Step, number>>

export type Step = 'dns' | 'connect' | 'tls' | 'head'

export const USUAL_LIMITS: Limits = { dns: 3000, connect: 5000, tls: 5000, head: 15_000 }

/** A request in progress: its phase, the duration of each, and the error that ended it. */
export class RequestProgress {
  private readonly ending = new AbortController()
  private readonly began = performance.now()
  private readonly took: Partial<Record<Step, number>> = {}
  private readonly total: NodeJS.Timeout
  private step: { readonly name: Step; readonly since: number; readonly timer: NodeJS.Timeout } | undefined
  private failure: SendError | null = null

  /** Whether all bytes of the message were handed to the network. */
  bodySent = false
  peer: string | null = null
  isFinished = false

  constructor(
    timeoutMs: number,
    private readonly limits: Limits,
    private readonly callers: AbortSignal | undefined,
  ) {
    this.total = setTimeout(() => this.end({ kind: 'timeout', phase: 'total' }), timeoutMs)
    if (callers !== undefined) {
      // One signal may abort all requests.
      setMaxListeners(0, callers)
      callers.addEventListener('abort', this.onAbort)
    }
    if (callers?.aborted === true) this.onAbort()
  }

  /** Aborts when the request has ended. */
  get signal(): AbortSignal {
    return this.ending.signal
  }

  get error(): SendError | null {
    return this.failure
  }

  enter(name: Step): void {
    this.leave()
    const timer = setTimeout(() => this.end({ kind: 'timeout', phase: name }), this.limits[name])
    this.step = { name, since: performance.now(), timer }
  }

  /** The phase has ended. */
  leave(): void {
    if (this.step === undefined) return
    clearTimeout(this.step.timer)
    this.took[this.step.name] = performance.now() - this.step.since
    this.step = undefined
  }

  /** The first error counts. */
  end(error: SendError): void {
    this.failure ??= error
    this.ending.abort()
  }

  /** Releases timers and listeners. */
  finish(): void {
    this.isFinished = true
    this.leave()
    clearTimeout(this.total)
    this.callers?.removeEventListener('abort', this.onAbort)
  }

  /** Reveals nothing about a refused target, not even how long the check took. */
  phases(): Phases {
    const isRefused = this.failure?.kind === 'forbidden-name' || this.failure?.kind === 'forbidden-address'
    if (isRefused) return NO_PHASES
    const { dns, connect, tls, head } = this.took
    const total = performance.now() - this.began
    return { dns: dns ?? null, connect: connect ?? null, tls: tls ?? null, first_byte: head ?? null, total }
  }

  private readonly onAbort = () => this.end({ kind: 'aborted' })
}

export const NO_PHASES: Phases = { dns: null, connect: null, tls: null, first_byte: null, total: 0 }
