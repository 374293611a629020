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

/**
 * The responses of a call, as they are asked for: the others stay in its buffer, which is bounded, and with the server.
 * Ends when the signal aborts.
 *
 * @throws TimedOut, and the error of the call
 */
export async function* responsesOf(
  call: ReadCall,
  { signal, silenceMs, isShort = false }: Receiving,
): AsyncGenerator<ReadResponse> {
  let end: { readonly error?: unknown } | undefined
  let wake = () => {}
  const stir = () => wake()
  const onEnd = (ended: { readonly error?: unknown }) => {
    end ??= ended
    wake()
  }
  // It stays: an error without a listener would end the process.
  call.on('error', (error) => onEnd({ error })).on('end', () => onEnd({}))
  call.on('readable', stir)
  signal.addEventListener('abort', stir)
  let isCancelled = !isShort
  try {
    while (!signal.aborted) {
      const response = call.read() as ReadResponse | null
      if (response !== null) {
        yield response
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
    call.off('readable', stir)
    if (isCancelled || signal.aborted) call.cancel()
    // A call whose responses are not taken does not end.
    call.resume()
  }
}
