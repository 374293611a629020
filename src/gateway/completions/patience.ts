import type { Timeouts } from '../../domain/gateway/upstreams/content.js'
import { UpstreamFault, type UpstreamAnswer } from '../../domain/gateway/upstreams/upstream-client.js'

/**
 * How long an upstream may go on without a part of an answer: comments, blanks, heads and empty events are none. Ends the
 * answer when the time is over.
 */
export class Patience {
  private phase = 'first byte'
  private until: number
  private timer: NodeJS.Timeout | undefined
  private pausedAt: number | undefined

  constructor(
    private readonly answer: UpstreamAnswer,
    private readonly timeouts: Timeouts,
  ) {
    this.until = answer.sentAt + timeouts.first_byte_ms
    this.wait()
  }

  /** A part came. */
  renew(): void {
    this.phase = 'idle'
    this.until = performance.now() + this.timeouts.idle_ms
  }

  /** The time that the client takes to read is not counted. */
  pause(): void {
    this.pausedAt = performance.now()
  }

  resume(hasPart: boolean): void {
    if (hasPart) this.renew()
    else this.until += performance.now() - (this.pausedAt ?? 0)
    this.pausedAt = undefined
  }

  stop(): void {
    clearTimeout(this.timer)
  }

  private wait(): void {
    const { until, pausedAt, timeouts } = this
    const left = pausedAt === undefined ? until - performance.now() : timeouts.idle_ms
    if (left <= 0) this.answer.giveUp(new UpstreamFault('timeout', this.phase))
    else this.timer = setTimeout(() => this.wait(), Math.min(left, timeouts.idle_ms))
  }
}
