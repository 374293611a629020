import { setImmediate } from 'node:timers/promises'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { Json } from '../../kernel/json/json.js'
import { invalidUpstreamResponse } from './upstream-failure.js'
import { deeperThan, MAX_DEPTH } from '../../kernel/json/measure.js'
import { parseJson } from '../../kernel/json/parse.js'
import type { UpstreamAnswer } from '../../domain/gateway/upstreams/upstream-client.js'

const MAX_BYTES = 67_108_864
/** Some upstreams repeat the whole request in their errors. */
const MAX_ERROR_BYTES = 1_048_576
const ERROR_TIMEOUT_MS = 2000

/**
 * A whole JSON answer of an upstream, read up to 64 MiB.
 *
 * @throws Failure for anything else
 */
export const readWhole = async (body: AsyncIterable<Uint8Array>): Promise<Json> => {
  const text = await textUpTo(body, MAX_BYTES)
  if (text === undefined) throw invalidUpstreamResponse(`it exceeds ${MAX_BYTES} bytes`)
  const value = parsed(text)
  if (value === undefined) throw invalidUpstreamResponse('it is not JSON, or is nested too deeply')
  return value
}

/**
 * The body of an error: JSON, or plain text as a string; undefined for HTML, and for more than 1 MiB. Reads for a short
 * time only, because the next target may be tried after it.
 */
export const readError = async (body: AsyncIterable<Uint8Array>): Promise<Json | undefined> => {
  const reading = body[Symbol.asyncIterator]()
  const timer = setTimeout(() => void reading.return?.(), ERROR_TIMEOUT_MS)
  try {
    const text = await textUpTo({ [Symbol.asyncIterator]: () => reading }, MAX_ERROR_BYTES)
    if (text === undefined) return undefined
    return parsed(text) ?? (text.trimStart().startsWith('<') ? undefined : text)
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
    await reading.return?.()
  }
}

const textUpTo = async (body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string | undefined> => {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > maxBytes) return undefined
    pieces.push(piece)
  }
  return new TextDecoder().decode(Buffer.concat(pieces))
}

/** Undefined for text that is not JSON, or is nested deeper than a request may be. */
export const parsed = (text: string): Json | undefined => {
  try {
    const value = parseJson(text)
    return deeperThan(value, MAX_DEPTH) ? undefined : value
  } catch {
    return undefined
  }
}

/** A stream that is always ready lets others run after this time. */
const MAX_TURN_MS = 5
const MAX_SLICE_BYTES = 16_384

/** Server-sent events of an upstream's answer. */
export interface EventReader {
  /** The events that the next bytes complete, maybe none; undefined at the end. */
  readonly next: () => Promise<readonly EventSourceMessage[] | undefined>
  /** The text of an answer without any event. */
  readonly textWithoutEvents: () => string
  /** Closes the connection unless the answer has ended. */
  readonly close: () => void
}

export const eventReader = (body: AsyncIterable<Uint8Array>): EventReader => {
  const reading = body[Symbol.asyncIterator]()
  const decoder = new TextDecoder()
  const withLineFeeds = lineFeeds()
  let ready: EventSourceMessage[] = []
  let withoutEvents: string | undefined = ''
  let failed: Error | undefined
  const parser = createParser({
    maxBufferSize: MAX_BYTES,
    // Events without data are ignored (server-sent events, 9.2.6).
    onEvent: (event) => {
      if (event.data !== '') ready.push(event)
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded')
        failed = invalidUpstreamResponse(`an event exceeds ${MAX_BYTES} characters`)
    },
  })
  const feed = (text: string): readonly EventSourceMessage[] => {
    if (withoutEvents !== undefined && withoutEvents.length <= MAX_ERROR_BYTES) withoutEvents += text
    parser.feed(text)
    const events = ready
    ready = []
    if (events.length > 0) withoutEvents = undefined
    if (events.length === 0 && failed !== undefined) throw failed
    return events
  }
  let isOver = false
  let turnBeganAt = performance.now()
  let unread: Uint8Array = new Uint8Array()
  return {
    next: async () => {
      if (isOver) return undefined
      if (failed !== undefined) throw failed
      if (performance.now() - turnBeganAt > MAX_TURN_MS) {
        await setImmediate()
        turnBeganAt = performance.now()
      }
      if (unread.length === 0) {
        const read = await reading.next()
        isOver = read.done === true
        if (read.done === true) return feed(withLineFeeds(`${decoder.decode()}\n`))
        unread = read.value
      }
      const slice = unread.subarray(0, MAX_SLICE_BYTES)
      unread = unread.subarray(MAX_SLICE_BYTES)
      return feed(withLineFeeds(decoder.decode(slice, { stream: true })))
    },
    textWithoutEvents: () => withoutEvents ?? '',
    close: () => void reading.return?.(),
  }
}

/** For chunks with a CR, the parser searches the rest of the chunk at every line, and holds back a CR at the end. */
const lineFeeds = (): ((text: string) => string) => {
  let followsCr = false
  return (text) => {
    const rest = followsCr && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') followsCr = text.endsWith('\r')
    return rest.replace(/\r\n?/g, '\n')
  }
}

/** @throws Failure for a compressed answer: `accept-encoding: identity` was sent */
export const rejectCompressed = ({ headers }: UpstreamAnswer): void => {
  if (!/^\s*(identity\s*)?$/i.test(headers['content-encoding'] ?? ''))
    throw invalidUpstreamResponse('it is compressed, which was not requested')
}
