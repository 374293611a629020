import { isDeepStrictEqual } from 'node:util'
import { digitsIn, rememberDigits, withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonBytesAtMost } from '../../kernel/json/measure.js'
import type { AnswerRoom } from './answer-room.js'
import { isGrowingObject, setMember, settled, type Growing, type GrowingObject } from './growing.js'
import { hasContent, memberOf, mergeInto } from './merge.js'
import { indexIn } from './places.js'
import { tokensReportedIn } from './usage-report.js'
import { isReason } from './whole-answer.js'

/** Members that are handled one by one; all others are copied or merged. */
const CHUNK_MEMBERS: ReadonlySet<string> = new Set(['choices', 'object', 'model', 'usage', 'obfuscation'])
const CHOICE_MEMBERS: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'finish_reason'])

interface Choice {
  readonly message: GrowingObject
  readonly members: GrowingObject
  finishReason: string | null
  hasDelta: boolean
}

/** Assembles the chunks of a stream into the whole answer that the upstream would have sent without streaming. */
export class AnswerFold {
  private readonly members: GrowingObject = {}
  private readonly choices = new Map<number, Choice>()
  private usage: Json = null
  private mostTokens = 0
  private hasChunks = false

  constructor(
    private readonly publicModel: string,
    private readonly room: AnswerRoom,
  ) {}

  /** Beyond the memory budget, only finish reasons and usage are taken, and the answer is marked as truncated. */
  take(chunk: JsonObject, choices: readonly JsonObject[]): void {
    this.hasChunks = true
    this.takeUsage(chunk['usage'])
    if (!this.room.isFull())
      for (const key of Object.keys(chunk)) if (!CHUNK_MEMBERS.has(key)) this.takeMember(key, chunk)
    for (const choice of choices) this.takeChoice(choice)
  }

  /** Frees the memory budget that the answer used. */
  release(): void {
    this.room.release()
  }

  /** Null if there were no chunks. */
  whole(): JsonObject | null {
    if (!this.hasChunks) return null
    return withDigitsOf(this.members, {
      id: null,
      created: null,
      ...(settled(this.members) as JsonObject),
      object: 'chat.completion',
      model: this.publicModel,
      choices: [...this.choices].sort(([a], [b]) => a - b).map(wholeChoice),
      usage: this.usage,
      ...(this.room.isFull() ? { tallytree_truncated: true } : {}),
    })
  }

  /** Members other than `choices` are repeated in every chunk. Lists are either repeated or sent in pieces. */
  private takeMember(key: string, chunk: JsonObject): void {
    const value = chunk[key] as Json
    const known = memberOf(this.members, key)
    const isKnown = known !== undefined && known !== null && known !== ''
    if (isKnown && (value === null || value === '' || key === 'id' || key === 'created')) return
    if (Array.isArray(known) && Array.isArray(value) && !repeats(known, value as readonly Json[])) {
      if (this.fits(value)) for (const item of value as Growing[]) known.push(item)
    } else if (isGrowingObject(known) && isJsonObject(value)) {
      for (const name of Object.keys(value))
        if (Object.hasOwn(known, name) || this.fits(value[name]!)) this.copyMember(known, name, value)
    } else if (isKnown || this.fits(value)) this.copyMember(this.members, key, chunk)
  }

  private fits(value: Json): boolean {
    const size = jsonBytesAtMost(value)
    return this.room.grant(size) === size
  }

  private copyMember(target: GrowingObject, key: string, from: JsonObject): void {
    setMember(target, key, from[key] as Growing)
    const digits = digitsIn(from, key)
    if (digits !== undefined) rememberDigits(target, key, digits)
  }

  /** The last report counts, unless it has fewer tokens than an earlier one. */
  private takeUsage(value: Json | undefined): void {
    if (!isJsonObject(value)) return
    const tokens = tokensReportedIn(value)
    if (tokens < this.mostTokens) return
    this.usage = value
    this.mostTokens = tokens
  }

  private takeChoice(choice: JsonObject): void {
    const known = this.choiceAt(indexIn(choice) ?? 0)
    const { finish_reason } = choice
    if (isReason(finish_reason)) known.finishReason = finish_reason
    if (this.room.isFull()) return
    const { grant } = this.room
    const { delta, message } = writtenIn(choice)
    if (delta !== undefined) mergeInto(known.message, delta, { grant })
    else if (message !== undefined)
      mergeInto(known.message, known.hasDelta ? missing(known.message, message) : message, { grant })
    known.hasDelta ||= delta !== undefined
    const facts = Object.entries(choice).filter(([key]) => !CHOICE_MEMBERS.has(key))
    mergeInto(known.members, withDigitsOf(choice, Object.fromEntries(facts)), { grant, replacesTexts: true })
  }

  private choiceAt(index: number): Choice {
    const known = this.choices.get(index)
    if (known !== undefined) return known
    const choice: Choice = { message: {}, members: {}, finishReason: null, hasDelta: false }
    this.choices.set(index, choice)
    return choice
  }
}

const repeats = (known: readonly Growing[], next: readonly Json[]): boolean =>
  known.length <= next.length && known.every((item, at) => isDeepStrictEqual(item, next[at]))

/** A delta, or the message of upstreams that send one in its place or at the end. */
export const writtenIn = ({
  delta,
  message,
}: JsonObject): { readonly delta?: JsonObject; readonly message?: JsonObject } => {
  if (isJsonObject(delta) && Object.keys(delta).length > 0) return { delta }
  return isJsonObject(message) ? { message } : {}
}

/** What the whole message at the end of a stream adds to its pieces. */
const missing = (known: GrowingObject, message: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(message).filter(([key]) => !hasContent(memberOf(known, key))))

const wholeChoice = ([index, { message, members, finishReason }]: [number, Choice]): JsonObject =>
  withDigitsOf(members, {
    ...(settled(members) as JsonObject),
    index,
    message: wholeMessage(settled(message) as JsonObject),
    finish_reason: finishReason,
  })

/** Streams start with an empty `content` even if the message has only tool calls or the like: then it is null. */
const wholeMessage = (message: JsonObject): JsonObject => {
  const { tool_calls } = message
  const hasOther = ['tool_calls', 'function_call', 'refusal', 'audio'].some(
    (key) => message[key] !== undefined && message[key] !== null,
  )
  const content = message['content'] ?? null
  return withDigitsOf(message, {
    ...message,
    role: message['role'] ?? 'assistant',
    content: content === '' && hasOther ? null : content,
    ...(Array.isArray(tool_calls) ? { tool_calls: tool_calls.map(withoutIndex) } : {}),
  })
}

const withoutIndex = (call: Json): Json => {
  if (!isJsonObject(call)) return call
  const { index: _, ...rest } = call
  return withDigitsOf(call, 'type' in rest || !('function' in rest) ? rest : { ...rest, type: 'function' })
}
