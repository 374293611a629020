import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonBytesAtMost } from '../../kernel/json/measure.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import { utf8Bytes } from '../../kernel/codec/text.js'
import { withText } from '../../kernel/json/replace-member.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Failure } from '../../application/failure.js'
import { settled, type GrowingObject } from '../answer/growing.js'
import { mergeInto } from '../answer/merge.js'
import { reportsError } from '../answer/reported-error.js'
import { indexIn } from '../answer/places.js'
import { unknown, UsageReports, writtenBytes } from '../answer/usage.js'
import { parsed } from '../completions/read-answer.js'
import type { TranslatedEvent } from '../translation/translation.js'
import {
  eventText,
  type Answer,
  type AnswerOptions,
  type FailedOptions,
  type TakenPiece,
  type WholeAnswer,
} from './endpoint.js'

/** Overloaded upstreams often fail right after the head. Clients show that an answer has begun. */
export const HOLDS_HEAD_MS = 250

/** Members of events that are an answer with its model, in events of the future too. */
const FRAMES = ['response', 'message'] as const

/** What an event of a stream means. */
export interface EventMeaning {
  /** `head`: what comes before there is any content, such as the frame of an answer, or says nothing of it. */
  readonly kind: 'head' | 'part' | 'end' | 'error'
  /** The frame of the answer, with its model under this name in the event. */
  readonly frame?: (typeof FRAMES)[number]
  /** Merged into the whole answer. */
  readonly piece?: JsonObject | undefined
  /** An element of its list that is whole. */
  readonly item?: { readonly at: number; readonly value: Json }
  /** What the model wrote. */
  readonly written?: string
  readonly error?: Json
}

/** An API whose streams are events with a type. */
export interface EventApi {
  /** The list of an answer's parts. */
  readonly list: 'output' | 'content'
  readonly meaningOf: (type: string, value: JsonObject) => EventMeaning
  readonly isWhole: (value: JsonObject) => boolean
  /** The events of a whole answer. */
  readonly eventsOf: (whole: JsonObject) => readonly TranslatedEvent[]
  /** An answer that was put together from pieces. */
  readonly assembled: (frame: JsonObject, pieces: JsonObject) => JsonObject
  readonly lastEvent: string
  readonly failed: (failure: Failure, options: FailedOptions, seen: SeenOfAnswer) => string
}

/** What came of an answer before it failed. */
export interface SeenOfAnswer {
  readonly frame: JsonObject
  /** The number of the last event; -1 without one. */
  readonly sequence: number
}

export const eventAnswer = (api: EventApi, { publicModel, expected, room }: AnswerOptions): Answer => {
  const reports = new UsageReports(expected)
  const pieces: GrowingObject = {}
  const items = new Map<number, Json>()
  let frame: JsonObject = {}
  let whole: JsonObject | undefined
  let [hasBegun, isOver] = [false, false]
  let [sequence, parts, bytes] = [-1, 0, 0]
  let contentAt: number | undefined

  const grant = (characters: number) => room?.grant(characters) ?? 0
  const fits = (value: Json) => {
    const size = jsonBytesAtMost(value)
    return grant(size) === size
  }
  const keep = ({ piece, item }: EventMeaning) => {
    if (room === null || room.isFull()) return
    if (piece !== undefined) mergeInto(pieces, piece, { grant })
    if (item !== undefined && fits(item.value)) items.set(item.at, item.value)
  }
  const apply = (meaning: EventMeaning, value: JsonObject) => {
    const { kind, frame: name, written } = meaning
    const framed = name === undefined ? undefined : value[name]
    hasBegun = true
    reports.take(value, [])
    if (isJsonObject(framed)) frame = framed
    if (typeof value['sequence_number'] === 'number') sequence = value['sequence_number']
    keep(meaning)
    if (kind === 'part' || kind === 'end') parts += 1
    if (written !== undefined) {
      contentAt ??= performance.now()
      bytes += utf8Bytes(written)
    }
    if (kind !== 'end') return
    isOver = true
    if (isJsonObject(framed) && room !== null && fits(framed)) whole = framed
  }
  const take = (value: JsonObject, data: string, event: string | undefined): TakenPiece => {
    const type = typeof value['type'] === 'string' ? value['type'] : event
    if (type === undefined && reportsError(value) === 'yes') return { text: '', error: value }
    const meaning = api.meaningOf(type ?? '', value)
    if (meaning.kind === 'error') return { text: '', error: meaning.error ?? value }
    apply(meaning, value)
    const name = FRAMES.find((frame) => isJsonObject(value[frame]))
    const shown = name === undefined ? data : withText(data, [name, 'model'], publicModel)
    return { text: eventText(shown, event ?? type) }
  }
  const takeWhole = (value: Json): TakenPiece => {
    if (!isJsonObject(value) || !api.isWhole(value)) return { text: '' }
    const events = api.eventsOf(value)
    return { text: events.map((one) => take(one.value, jsonText(one.value), one.event).text).join('') }
  }
  const ofWhole = (value: JsonObject): UsageReports => {
    const own = new UsageReports(expected)
    own.take(value, [])
    return own
  }

  return {
    take: async ({ event, data, value }) => {
      if (isOver || data.trim() === '[DONE]') return { text: '' }
      const known = value ?? (await parsed(data))
      if (isJsonObject(known)) return api.isWhole(known) ? takeWhole(known) : take(known, data, event)
      return data.trimStart().startsWith('{')
        ? { text: '', invalid: 'an event is not JSON, is nested too deeply, or has too many values' }
        : { text: eventText(data, event) }
    },
    takeWhole: async (value) => takeWhole(value),
    whole: (value, text): WholeAnswer | undefined =>
      isJsonObject(value) && api.isWhole(value)
        ? {
            body: withDigitsOf(value, { ...value, model: publicModel }),
            text: withText(text, ['model'], publicModel),
            metered: ofWhole(value).metered(writtenIn(value[api.list])),
          }
        : undefined,
    missing: () => `it has no ${api.list}`,
    isAnswered: () => parts > 0,
    isDone: () => isOver,
    isComplete: () => isOver,
    parts: () => parts,
    contentAt: () => contentAt,
    suspected: () => undefined,
    incomplete: () => `the stream ended without ${api.lastEvent}`,
    metered: () => (hasBegun ? reports.metered(bytes, isOver) : unknown),
    folded: () => {
      if (!hasBegun || room === null) return null
      const list = Object.fromEntries(items)
      const body = whole ?? api.assembled(frame, withItems(settled(pieces) as JsonObject, api.list, list))
      return { ...body, model: publicModel, ...(room.isFull() ? { tallytree_truncated: true } : {}) }
    },
    release: () => room?.release(),
    end: '',
    failed: (failure, options) => api.failed(failure, options, { frame, sequence }),
  }
}

const writtenIn = (list: Json | undefined): number => (list === undefined ? 0 : writtenBytes({ list }))

/** The pieces with those elements that came whole, without indexes. */
const withItems = (
  pieces: JsonObject,
  list: 'output' | 'content',
  items: Readonly<Record<number, Json>>,
): JsonObject => {
  const known = Array.isArray(pieces[list]) ? (pieces[list] as readonly Json[]).filter(isJsonObject) : []
  const byIndex: Record<number, Json> = {}
  for (const one of known) byIndex[indexIn(one) ?? 0] = withoutIndexes(one)
  return { ...pieces, [list]: Object.values({ ...byIndex, ...items }) }
}

/** Lists of pieces have an index in each element. */
const withoutIndexes = ({ index: _, ...members }: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).map(([key, value]) => [key, elementsIn(value)]))

const elementsIn = (value: Json): Json =>
  Array.isArray(value)
    ? value.map((one: Json) => (isJsonObject(one) && 'index' in one ? withoutIndexes(one) : one))
    : value
