import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { badAnswer } from './upstream-failure.js'

const MOST_EVENT_CHARACTERS = 4_194_304

/** The server-sent events in an upstream's answer, in one batch for each chunk received. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly EventSourceMessage[]> {
  const decoder = new TextDecoder()
  let ready: EventSourceMessage[] = []
  let failed: Error | undefined
  const parser = createParser({
    maxBufferSize: MOST_EVENT_CHARACTERS,
    // An event without data is none (server-sent events, 9.2.6).
    onEvent: (event) => {
      if (event.data !== '') ready.push(event)
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded')
        failed = badAnswer(`an event exceeds ${MOST_EVENT_CHARACTERS} characters`)
    },
  })
  for await (const piece of body) {
    parser.feed(decoder.decode(piece, { stream: true }))
    const events = ready
    ready = []
    if (events.length > 0) yield events
    if (failed !== undefined) throw failed
  }
  // The end of the last line may be a CR, which is waited behind for an LF.
  parser.feed(`${decoder.decode()}\n`)
  if (ready.length > 0) yield ready
}
