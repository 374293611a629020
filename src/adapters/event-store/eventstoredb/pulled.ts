import type { Readable } from 'node:stream'
import { TimedOut } from './waiting.js'

/** What the client calls its answers: a stream of objects that is ended by hand. */
export interface ClientStream extends Readable {
  /** Tells the server that no more is wanted. */
  readonly stop: () => Promise<unknown>
  /** Whether it ends soon by itself. It is not stopped then: servers cut connections on which many calls are. */
  readonly isShort: boolean
}

export interface Pulling {
  readonly signal: AbortSignal
  /** Longest silence while something is awaited; none for a subscription, which may rest. */
  readonly silenceMs: number | undefined
}

/** Things that are said beside the objects, each after the objects that came before it. */
export interface Markers<Marker> {
  /** Called when it is said. */
  readonly note: (marker: Marker) => void
  readonly pull: (stream: ClientStream, pulling: Pulling) => AsyncGenerator<Pulled<Marker>>
}

export type Pulled<Marker> = { readonly chunk: unknown } | { readonly marker: Marker }

/**
 * Takes objects from a stream one by one, as they are asked for: what is not taken stays in the stream's buffer, which is
 * bounded, and then with the server. Markers are given in their place. Throws what the stream fails with, TimedOut when
 * it is silent for too long; ends with the stream, or when the signal aborts.
 */
export const markers = <Marker>(): Markers<Marker> => {
  const noted: { readonly marker: Marker; readonly due: number }[] = []
  let taken = 0
  let buffered = (): number => 0
  let wake: () => void = () => undefined

  return {
    note: (marker) => {
      noted.push({ marker, due: taken + buffered() })
      wake()
    },

    pull: async function* (stream, { signal, silenceMs }) {
      const state: { failure?: { readonly error: unknown }; ended: boolean } = { ended: false }
      buffered = () => stream.readableLength
      const stir = () => wake()
      const fail = (error: unknown) => {
        state.failure ??= { error }
        wake()
      }
      const end = () => {
        state.ended = true
        wake()
      }
      let isLeftAlone = stream.isShort
      // It stays: an error that comes after the last look would end the process.
      stream.on('error', fail)
      stream.on('readable', stir).on('end', end).on('close', end)
      signal.addEventListener('abort', stir)
      try {
        while (!signal.aborted) {
          const [marker] = noted
          if (marker !== undefined && marker.due <= taken) {
            noted.shift()
            yield { marker: marker.marker }
            continue
          }
          const chunk: unknown = stream.read()
          if (chunk !== null) {
            taken += 1
            yield { chunk }
            continue
          }
          if (state.failure !== undefined) throw state.failure.error
          if (state.ended) return
          await new Promise<void>((resolve, reject) => {
            const late = () => {
              isLeftAlone = false
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
        stream.off('readable', stir)
        // The call may have failed already, and is over then. What has come nevertheless must be let through, or the call
        // never ends and the client keeps it.
        if (!isLeftAlone || signal.aborted) void stream.stop().catch(() => undefined)
        stream.resume()
      }
    },
  }
}
