import type { IncomingHttpHeaders } from 'node:http'
import { errors, type Dispatcher } from 'undici'
import {
  BEFORE_ASKED,
  SLOW_READER,
  UpstreamFault,
  type UpstreamEnd,
  type UpstreamAnswer,
} from '../../../domain/gateway/upstreams/upstream-client.js'
import type { Timeouts } from '../../../domain/gateway/upstreams/content.js'
import { faultFrom } from './faults.js'

type Controller = Dispatcher.DispatchController

/** Bytes that wait for a slow reader before the upstream is held up. */
const MOST_WAITING = 65_536
const NO_MORE = { done: true, value: undefined } as const
/** Heads with a status below 200 that may come before the answer. */
const MAX_INTERIM_RESPONSES = 16

/** What an exchange can do with its connection. */
export interface Connection {
  readonly begin: () => void
  /** Closes it, or cancels it while it is being opened. */
  readonly close: () => void
}

/** One request and its answer, each phase within its time. Whatever ends it, nothing of it is left behind. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly answered: Promise<UpstreamAnswer>
  private answer!: (answer: UpstreamAnswer) => void
  private refuse!: (fault: UpstreamFault) => void
  private readonly ended: Promise<UpstreamEnd>
  private settle!: (ended: UpstreamEnd) => void

  private connection: Connection | undefined
  private controller: Controller | undefined
  private sentAt = Infinity
  private readonly total: NodeJS.Timeout
  private phase: NodeJS.Timeout
  private outcome: UpstreamEnd | undefined
  private isHeadThere = false
  private interimResponses = 0
  private waiting: Uint8Array[] = []
  private waitingBytes = 0
  private wake: (() => void) | undefined

  constructor(
    private readonly timeouts: Timeouts,
    private readonly callers: AbortSignal | undefined,
  ) {
    this.answered = new Promise((resolve, reject) => {
      this.answer = resolve
      this.refuse = reject
    })
    this.ended = new Promise((resolve) => (this.settle = resolve))
    this.total = this.timer('total', timeouts.total_ms)
    this.phase = this.timer('connect', timeouts.connect_ms)
    callers?.addEventListener('abort', this.onAbort)
    if (callers?.aborted === true) this.onAbort()
  }

  get isOver(): boolean {
    return this.outcome !== undefined
  }

  useConnection(connection: Connection): void {
    this.connection = connection
  }

  onRequestStart(controller: Controller): void {
    if (this.isOver) return controller.abort(new errors.RequestAbortedError())
    this.controller = controller
    this.connection?.begin()
    this.sentAt = performance.now()
    this.enter('first byte', this.timeouts.first_byte_ms)
  }

  onResponseStart(_: Controller, status: number, headers: IncomingHttpHeaders): void {
    if (this.isOver) return
    if (status < 200) {
      this.interimResponses += 1
      if (this.interimResponses > MAX_INTERIM_RESPONSES)
        this.end(new UpstreamFault('protocol', 'TOO_MANY_INTERIM_ANSWERS'))
      return
    }
    this.isHeadThere = true
    this.enter('idle', this.timeouts.idle_ms)
    this.answer({
      status,
      headers: flat(headers),
      body: { [Symbol.asyncIterator]: () => this.reader },
      ended: this.ended,
      sentAt: this.sentAt,
      giveUp: (fault) => this.end(fault),
    })
  }

  onResponseData(controller: Controller, piece: Uint8Array): void {
    if (this.isOver) return
    this.waiting.push(piece)
    this.waitingBytes += piece.length
    if (this.waitingBytes > MOST_WAITING) {
      controller.pause()
      clearTimeout(this.phase)
    } else this.phase.refresh()
    this.wake?.()
  }

  onResponseEnd(): void {
    this.end('complete')
  }

  onResponseError(_: Controller | undefined, error: Error): void {
    this.end(faultFrom(error))
  }

  onRequestUpgrade(): void {
    this.end(new UpstreamFault('protocol', 'UPGRADE'))
  }

  /** Not a generator: `return` on a generator that was not started runs no cleanup. */
  private readonly reader: AsyncIterator<Uint8Array> = {
    next: async () => {
      for (;;) {
        const piece = this.waiting.shift()
        if (piece !== undefined) {
          this.take(piece.length)
          return { done: false, value: piece }
        }
        if (this.outcome instanceof UpstreamFault) throw this.outcome
        if (this.isOver) return NO_MORE
        await new Promise<void>((resolve) => (this.wake = resolve))
      }
    },
    return: () => {
      this.waiting = []
      this.end('left')
      return Promise.resolve(NO_MORE)
    },
  }

  private take(bytes: number): void {
    this.waitingBytes -= bytes
    if (this.controller?.paused !== true || this.isOver || this.waitingBytes > 0) return
    this.enter('idle', this.timeouts.idle_ms)
    this.controller.resume()
  }

  private end(outcome: UpstreamEnd): void {
    if (this.isOver) return
    this.outcome = outcome
    clearTimeout(this.total)
    clearTimeout(this.phase)
    this.callers?.removeEventListener('abort', this.onAbort)
    if (outcome !== 'complete') this.connection?.close()
    if (!this.isHeadThere)
      this.refuse(outcome instanceof UpstreamFault ? outcome : new UpstreamFault('protocol', 'NO_HEAD'))
    this.settle(outcome)
    this.wake?.()
  }

  private enter(phase: string, ms: number): void {
    clearTimeout(this.phase)
    this.phase = this.timer(phase, ms)
  }

  private timer(phase: string, ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      const { controller } = this
      const late = controller?.paused === true ? SLOW_READER : phase
      this.end(new UpstreamFault('timeout', controller === undefined ? 'connect' : late))
    }, ms)
  }

  private readonly onAbort = () => {
    const code = this.controller === undefined ? BEFORE_ASKED : 'by the client'
    this.end(new UpstreamFault('aborted', code))
  }
}

const flat = (headers: IncomingHttpHeaders): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
