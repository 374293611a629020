import { createParser } from 'eventsource-parser'
import { badAnswer } from './upstream-failure.js'

const MOST_EVENT_CHARACTERS = 4_194_304

/** The data of the server-sent events in an upstream's answer, those that came together, as they come. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder()
  let ready: string[] = []
  let failed: Error | undefined
  const parser = createParser({
    maxBufferSize: MOST_EVENT_CHARACTERS,
    // An event without data is none (server-sent events, 9.2.6).
    onEvent: ({ data }) => {
      if (data !== '') ready.push(data)
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded')
        failed = badAnswer(`an event is over ${MOST_EVENT_CHARACTERS} characters`)
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
