import type { Log } from '../../kernel/ports/log.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { Failure } from '../../application/failure.js'
import { backoff } from '../../kernel/backoff.js'
import { within } from '../../kernel/within.js'

type Append = () => Promise<Position | undefined>

/** The client's answer waits this long for the append of the call's end. */
const MAX_WAIT_MS = 5000
const BACKOFF = { firstMs: 100, maxMs: 5000, ref: false }
const MAX_BACKLOG = 1000

/** Appends the ends of calls, and retries in the background while the event store is unavailable. */
export class CallEndWriter {
  private readonly pending = new Set<Promise<unknown>>()
  /** Ends whose first attempt failed. */
  private backlog = 0

  constructor(private readonly log: Pick<Log, 'info' | 'warn'>) {}

  /** Never rejects. Resolves without a position if the append fails or is slow, and then retries in the background. */
  write(append: Append): Promise<Position | undefined> {
    const first = append()
    const written = first.catch((error: unknown) => this.retry(append, error))
    this.pending.add(written)
    void written.then(() => this.pending.delete(written))
    return within(
      MAX_WAIT_MS,
      first.catch(() => undefined),
    )
  }

  /** @throws Failure 503 */
  rejectIfBacklogFull(): void {
    if (this.backlog < MAX_BACKLOG) return
    throw new Failure('overloaded', 'The event store does not accept writes. Try again.', { retryAfter: 1 })
  }

  /** Waits at most this long for `before`, and then until all ends are written. */
  async drain(withinMs: number, before = Promise.resolve()): Promise<void> {
    await within(
      withinMs,
      before.then(() => Promise.all(this.pending)),
    )
  }

  private async retry(append: Append, error: unknown): Promise<void> {
    this.backlog += 1
    if (this.backlog === 1)
      this.log.warn('gateway.call_end_append_failing', { name: error instanceof Error ? error.name : '' })
    for (let failures = 1; ; failures += 1) {
      await backoff(failures, BACKOFF)
      try {
        await append()
        break
      } catch {
        // The store is still unavailable.
      }
    }
    this.backlog -= 1
    if (this.backlog === 0) this.log.info('gateway.call_end_append_recovered')
  }
}
