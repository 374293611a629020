import { Failure } from '../../application/failure.js'
import { within } from '../../kernel/within.js'

export interface KeepAlive {
  /** Silence after which the head of an answer is sent, together with a first comment. */
  readonly headAfterMs: number
  /** Silence between two comments. */
  readonly everyMs: number
}

const COMMENT = ': keep-alive\n\n'

/**
 * Adds comments to server-sent events during silence, because proxies close idle connections. A failure is thrown if
 * nothing was sent before; otherwise `failed` makes it the last event.
 */
export async function* keptAlive(
  opening: Promise<AsyncIterable<string>>,
  { headAfterMs, everyMs }: KeepAlive,
  failed: (failure: Failure) => string,
): AsyncIterable<string> {
  const source = opening.then((events) => events[Symbol.asyncIterator]())
  let next = source.then((events) => events.next())
  let hasSent = false
  try {
    for (;;) {
      const event = await within(hasSent ? everyMs : headAfterMs, next)
      if (event?.done === true) return
      hasSent = true
      yield event === undefined ? COMMENT : event.value
      if (event !== undefined) next = source.then((events) => events.next())
    }
  } catch (error) {
    if (!hasSent || !(error instanceof Failure)) throw error
    yield failed(error)
  } finally {
    // Not awaited by the reader: the source may be waiting for its upstream.
    next.catch(() => undefined)
    void source.then((events) => events.return?.()).catch(() => undefined)
  }
}
