import { jsonBytesAtMost } from '../../kernel/json/measure.js'
import type { AnswerRoom } from './answer-room.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import {
  indexIn,
  isGrowingObject,
  memberOf,
  mergeInto,
  setMember,
  type Growing,
  type GrowingObject,
  type Size,
} from './merge.js'
import { greatest, reportedIn, type Usage } from './usage.js'
import { isReason } from './whole-answer.js'

/** Members of a chunk that its whole answer does not have. */
const OF_CHUNKS: ReadonlySet<string> = new Set(['choices', 'object', 'model', 'usage', 'obfuscation'])
const OF_CHOICES: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'finish_reason'])

interface Choice {
  readonly message: GrowingObject
  readonly members: GrowingObject
  finishReason: string | null
}

/** The answer that an upstream would have sent in one piece, put together from the chunks of its stream. */
export class AnswerFold {
  private readonly members: GrowingObject = {}
  private readonly choices = new Map<number, Choice>()
  private usage: Json = null
  private greatestUsage: Usage | null = null
  private hasChunks = false
  private isTruncated = false

  constructor(
    private readonly publicModel: string,
    private readonly room: AnswerRoom,
  ) {}

  /** Once there is no room, the rest is dropped. */
  take(chunk: JsonObject, choices: readonly JsonObject[]): void {
    if (this.isTruncated) return
    this.hasChunks = true
    const size: Size = { characters: 0 }
    for (const [key, value] of Object.entries(chunk))
      if (!OF_CHUNKS.has(key)) this.takeMember(key, value, size)
    this.takeUsage(chunk['usage'])
    for (const choice of choices) this.takeChoice(choice, size)
    this.isTruncated = !this.room.takes(size.characters)
  }

  /** Null if there were no chunks. */
  whole(): JsonObject | null {
    if (!this.hasChunks) return null
    return {
      id: null,
      created: null,
      ...(this.members as JsonObject),
      object: 'chat.completion',
      model: this.publicModel,
      choices: [...this.choices].sort(([a], [b]) => a - b).map(wholeChoice),
      usage: this.usage,
      ...(this.isTruncated ? { tallytree_truncated: true } : {}),
    }
  }

  /** The head of the answer is in every chunk; lists are repeated, or come in pieces. */
  private takeMember(key: string, value: Json, size: Size): void {
    const known = memberOf(this.members, key)
    const isKnown = known !== undefined && known !== null && known !== ''
    if (isKnown && (value === null || value === '' || key === 'id' || key === 'created')) return
    if (Array.isArray(known) && Array.isArray(value) && !repeats(known, value as readonly Json[])) {
      size.characters += jsonBytesAtMost(value, Infinity)
      for (const item of value as Growing[]) known.push(item)
    } else if (isGrowingObject(known) && isJsonObject(value))
      for (const [name, member] of Object.entries(value)) setMember(known, name, member as Growing)
    else setMember(this.members, key, value as Growing)
  }

  /** Later reports count, unless they say less. */
  private takeUsage(value: Json | undefined): void {
    if (!isJsonObject(value)) return
    const reported = reportedIn(value)
    const all = greatest(this.greatestUsage, reported)
    const isLess = all !== null && reported !== null && reported.total_tokens < all.total_tokens
    if (!isLess) this.usage = value
    this.greatestUsage = all
  }

  private takeChoice(choice: JsonObject, size: Size): void {
    const known = this.choiceAt(indexIn(choice) ?? 0)
    const { delta, message, finish_reason } = choice
    if (isReason(finish_reason)) known.finishReason = finish_reason
    if (isJsonObject(delta)) mergeInto(known.message, delta, size)
    else if (isJsonObject(message)) mergeInto(known.message, message, size)
    const facts = Object.entries(choice).filter(([key]) => !OF_CHOICES.has(key))
    const sizeOfFacts = { characters: 0, replacesTexts: true }
    mergeInto(known.members, Object.fromEntries(facts), sizeOfFacts)
    size.characters += sizeOfFacts.characters
  }

  private choiceAt(index: number): Choice {
    const known = this.choices.get(index)
    if (known !== undefined) return known
    const choice: Choice = { message: {}, members: {}, finishReason: null }
    this.choices.set(index, choice)
    return choice
  }
}

const repeats = (known: readonly Growing[], next: readonly Json[]): boolean =>
  known.every((item, at) => JSON.stringify(item) === JSON.stringify(next[at]))

const wholeChoice = ([index, { message, members, finishReason }]: [number, Choice]): JsonObject => ({
  ...(members as JsonObject),
  index,
  message: wholeMessage(message),
  finish_reason: finishReason,
})

/** Streams begin with an empty text, also where the message has none. */
const wholeMessage = (message: JsonObject): JsonObject => {
  const { tool_calls } = message
  const hasOther = ['tool_calls', 'function_call', 'refusal', 'audio'].some(
    (key) => message[key] !== undefined && message[key] !== null,
  )
  const content = message['content'] ?? null
  return {
    ...message,
    role: message['role'] ?? 'assistant',
    content: content === '' && hasOther ? null : content,
    ...(Array.isArray(tool_calls) ? { tool_calls: tool_calls.map(withoutIndex) } : {}),
  }
}

const withoutIndex = (call: Json): Json => {
  if (!isJsonObject(call)) return call
  const { index: _, ...rest } = call
  return 'type' in rest || !('function' in rest) ? rest : { ...rest, type: 'function' }
}
