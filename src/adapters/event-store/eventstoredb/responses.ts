import type { ReadCall } from './connection.js'
import type { ReadResponse } from './read-response.js'
import { TimedOut } from './waiting.js'

interface Receiving {
  readonly signal: AbortSignal
  /** The longest wait for a response; absent for a subscription, which may be quiet. */
  readonly silenceMs?: number
  /** The call ends soon by itself, and is not cancelled: servers close connections on which many calls are reset. */
  readonly isShort?: boolean
}

/** A call is paused while this much was received and not taken; then the rest stays with the server. */
const MOST = { responses: 500, bytes: 1024 * 1024 }

/**
 * The responses of a call, those of a turn of the event loop together. Ends when the signal aborts.
 *
 * @throws TimedOut, and the error of the call
 */
export async function* responsesOf(
  call: ReadCall,
  { signal, silenceMs, isShort = false }: Receiving,
): AsyncGenerator<readonly ReadResponse[]> {
  let received: ReadResponse[] = []
  let bytes = 0
  let end: { readonly error?: unknown } | undefined
  let wake = () => {}
  const stir = () => wake()
  const onEnd = (ended: { readonly error?: unknown }) => {
    end ??= ended
    wake()
  }
  // It stays: an error without a listener would end the process.
  call.on('error', (error) => onEnd({ error })).on('end', () => onEnd({}))
  const onData = (response: ReadResponse) => {
    if (received.push(response) === 1) setImmediate(stir)
    bytes += response.event?.data.length ?? 0
    if (received.length >= MOST.responses || bytes >= MOST.bytes) call.pause()
  }
  call.on('data', onData)
  signal.addEventListener('abort', stir)
  let isCancelled = !isShort
  try {
    while (!signal.aborted) {
      if (received.length > 0) {
        const taken = received
        received = []
        bytes = 0
        call.resume()
        yield taken
        continue
      }
      if (end !== undefined && 'error' in end) throw end.error
      if (end !== undefined) return
      await new Promise<void>((resolve, reject) => {
        const late = () => {
          isCancelled = true
          reject(new TimedOut(`the EventStoreDB sent nothing for ${silenceMs} ms`))
        }
        const timer = silenceMs === undefined ? undefined : setTimeout(late, silenceMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  } finally {
    signal.removeEventListener('abort', stir)
    call.off('data', onData)
    if (isCancelled || signal.aborted) call.cancel()
    // A call whose responses are not taken does not end.
    call.resume()
  }
}
