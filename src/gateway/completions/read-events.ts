import { createParser, type EventSourceParser } from 'eventsource-parser'
import type { Json } from '../../kernel/json/json.js'
import type { MemoryLease } from '../../kernel/memory-account.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import type { Timeouts } from '../../domain/gateway/upstreams/content.js'
import type { UpstreamAnswer } from '../../domain/gateway/upstreams/upstream-client.js'
import { MEMORY_PER_CHARACTER } from '../answer/answer-room.js'
import type { UpstreamEvent } from '../endpoints/endpoint.js'
import { decodedBody } from './decode-answer.js'
import { Patience } from './patience.js'
import { MAX_BYTES, MAX_ERROR_BYTES, parsed } from './read-answer.js'
import { invalidUpstreamResponse, memoryUsedUp } from './upstream-failure.js'

/** Small enough that a stream which is always ready gives way in time. */
const MAX_SLICE_BYTES = 16_384

/** The events of an upstream's answer: server-sent events, or lines of JSON. */
export interface EventReader {
  readonly patience: Patience
  /** The events that the next bytes complete, maybe none; undefined at the end. */
  readonly next: () => Promise<readonly UpstreamEvent[] | undefined>
  /** An answer without any event: its text, and its value if that is JSON. */
  readonly withoutEvents: () => Promise<WholeText>
  /** Closes the connection unless the answer has ended. */
  readonly close: () => void
}

export interface WholeText {
  readonly text: string
  readonly value: Json | undefined
}

/** @throws Failure for an unknown content coding */
export const eventReader = (
  answer: UpstreamAnswer,
  timeouts: Timeouts,
  memory: Pick<MemoryLease, 'grow' | 'shrink'>,
): EventReader => {
  const reading = decodedBody(answer)[Symbol.asyncIterator]()
  const patience = new Patience(answer, timeouts)
  const decoder = new TextDecoder()
  const withLineFeeds = lineFeeds()
  const text = new AnswerText(() => patience.renew())
  const hold = holdingIn(memory)
  let isOver = false
  const pause = yielding()
  let unread: Uint8Array = new Uint8Array()
  return {
    patience,
    next: async () => {
      if (isOver) return undefined
      hold(text.unfinishedLength)
      await pause()
      if (unread.length === 0) {
        const read = await reading.next()
        isOver = read.done === true
        if (read.done === true) return text.end(withLineFeeds(decoder.decode()))
        unread = read.value
      }
      const slice = unread.subarray(0, MAX_SLICE_BYTES)
      unread = unread.subarray(MAX_SLICE_BYTES)
      return text.add(withLineFeeds(decoder.decode(slice, { stream: true })))
    },
    withoutEvents: async () => ({ text: text.withoutEvents, value: await parsed(text.withoutEvents) }),
    close: () => {
      patience.stop()
      hold(0)
      void reading.return?.()
    },
  }
}

/** Counted in steps, so that short events cost nothing. */
const STEP = 65_536

/** Counts the characters of unfinished events in the memory of a request. */
export const holdingIn = (memory: Pick<MemoryLease, 'grow' | 'shrink'>): ((characters: number) => void) => {
  let counted = 0
  return (characters) => {
    const now = characters - (characters % STEP)
    const more = (now - counted) * MEMORY_PER_CHARACTER
    if (more > 0 && !memory.grow(more)) throw memoryUsedUp
    if (more < 0) memory.shrink(-more)
    counted = now
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

/** Finds the events in the text of an answer, whatever its type says, and keeps a text without events. */
class AnswerText {
  private form: 'unknown' | 'events' | 'lines' | 'whole' = 'unknown'
  private readonly parser: EventSourceParser
  private ready: UpstreamEvent[] = []
  private hasEvents = false
  private failed: Error | undefined
  /** The last line of JSON lines, or the whole text. */
  private held: string[] = []
  private heldLength = 0
  private readonly unfinished = new UnfinishedEvent()

  constructor(private readonly onJson: () => void) {
    this.parser = createParser({
      maxBufferSize: MAX_BYTES,
      // Events without data are ignored (server-sent events, 9.2.6).
      onEvent: (event) => {
        this.unfinished.end()
        if (event.data !== '') this.ready.push(event)
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded')
          this.failed = invalidUpstreamResponse(`an event exceeds ${MAX_BYTES} characters`)
      },
    })
  }

  /** Characters of what is read and has no end yet. */
  get unfinishedLength(): number {
    return this.form === 'events' ? this.unfinished.length : this.heldLength
  }

  get withoutEvents(): string {
    return this.hasEvents ? '' : this.held.join('')
  }

  async add(text: string): Promise<readonly UpstreamEvent[]> {
    if (this.form === 'unknown') this.form = formOf(text)
    if (this.form === 'lines') await this.addLines(text)
    else if (this.form === 'whole') this.hold(text, MAX_BYTES)
    else {
      if (!this.hasEvents && this.heldLength <= MAX_ERROR_BYTES) this.hold(text, MAX_BYTES)
      if (this.failed === undefined) {
        this.parser.feed(text)
        this.unfinished.add(text)
      }
    }
    const continues = this.form === 'whole' || (this.form === 'lines' && !text.includes('\n'))
    if (continues && /\S/.test(text)) this.onJson()
    return this.taken()
  }

  async end(text: string): Promise<readonly UpstreamEvent[]> {
    if (this.form !== 'lines') return this.add(this.form === 'whole' ? text : `${text}\n`)
    this.hold(text, MAX_BYTES)
    if (this.hasEvents) await this.endLine()
    return this.taken()
  }

  private taken(): readonly UpstreamEvent[] {
    const events = this.ready
    this.ready = []
    if (events.length === 0 && this.failed !== undefined) throw this.failed
    if (events.length > 0 && !this.hasEvents) {
      this.hasEvents = true
      if (this.form === 'events') this.held = []
    }
    return events
  }

  private async addLines(text: string): Promise<void> {
    let from = 0
    for (let to = text.indexOf('\n'); to >= 0 && this.form === 'lines'; to = text.indexOf('\n', from)) {
      this.hold(text.slice(from, to + 1), MAX_BYTES)
      await this.endLine()
      from = to + 1
    }
    this.hold(text.slice(from), MAX_BYTES)
  }

  /** If the first line is no JSON of its own, the text is one value on several lines. */
  private async endLine(): Promise<void> {
    const data = this.held.join('').replaceAll('\u001e', '').trim()
    const value = data === '' ? undefined : await parsed(data)
    if (data !== '' && value === undefined && !this.hasEvents && this.ready.length === 0) this.form = 'whole'
    else {
      this.held = []
      this.heldLength = 0
      if (data !== '') this.ready.push(value === undefined ? { data } : { data, value })
    }
  }

  private hold(text: string, most: number): void {
    this.heldLength += text.length
    if (this.heldLength > most) this.failed ??= invalidUpstreamResponse(`it exceeds ${most} characters`)
    else this.held.push(text)
  }
}

/** The number of characters that the parser of events holds, which it does not tell. */
class UnfinishedEvent {
  length = 0
  private hasData = false
  private hasEnded = false

  /** Called while text is parsed, for each event that ends in it. */
  end(): void {
    this.hasEnded = true
  }

  /** Called after text was parsed. */
  add(text: string): void {
    const rest = this.hasEnded ? text.slice(text.lastIndexOf('\n\n') + 1) : text
    if (this.hasEnded) {
      this.length = 0
      this.hasData = false
      this.hasEnded = false
    }
    // Comments and other fields are not held. A line with `d` may be data.
    this.hasData ||= /(^|\n)d/.test(rest)
    const lineAt = this.hasData ? 0 : rest.lastIndexOf('\n') + 1
    this.length = (lineAt > 0 ? 0 : this.length) + rest.length - lineAt
  }
}

/** JSON begins as such, or with the separator of JSON text sequences (RFC 7464). */
const formOf = (text: string): 'unknown' | 'events' | 'lines' => {
  const first = /\S/.exec(text)?.[0]
  if (first === undefined) return 'unknown'
  return '{[\u001e'.includes(first) ? 'lines' : 'events'
}
