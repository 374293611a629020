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
import { tokensReportedIn } from './usage.js'
import { isReason } from './whole-answer.js'

/** Members that are handled one by one; all others are copied or merged. */
const CHUNK_MEMBERS: ReadonlySet<string> = new Set(['choices', 'object', 'model', 'usage', 'obfuscation'])
const CHOICE_MEMBERS: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'finish_reason'])

interface Choice {
  readonly message: GrowingObject
  readonly members: GrowingObject
  finishReason: string | null
}

/** Assembles the chunks of a stream into the whole answer that the upstream would have sent without streaming. */
export class AnswerFold {
  private readonly members: GrowingObject = {}
  private readonly choices = new Map<number, Choice>()
  private usage: Json = null
  private mostTokens = 0
  private hasChunks = false
  private isTruncated = false

  constructor(
    private readonly publicModel: string,
    private readonly room: AnswerRoom,
  ) {}

  /** Beyond the memory budget, the rest is dropped and the answer marked as truncated. */
  take(chunk: JsonObject, choices: readonly JsonObject[]): void {
    if (this.isTruncated) return
    this.hasChunks = true
    const size: Size = { characters: 0 }
    for (const [key, value] of Object.entries(chunk))
      if (!CHUNK_MEMBERS.has(key)) this.takeMember(key, value, size)
    this.takeUsage(chunk['usage'])
    for (const choice of choices) this.takeChoice(choice, size)
    this.isTruncated = !this.room.takes(size.characters)
  }

  /** Frees the memory budget that the answer used. */
  release(): void {
    this.room.release()
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

  /** Members other than `choices` are repeated in every chunk. Lists are either repeated or sent in pieces. */
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

  /** The last report counts, unless it has fewer tokens than an earlier one. */
  private takeUsage(value: Json | undefined): void {
    if (!isJsonObject(value)) return
    const tokens = tokensReportedIn(value)
    if (tokens < this.mostTokens) return
    this.usage = value
    this.mostTokens = tokens
  }

  private takeChoice(choice: JsonObject, size: Size): void {
    const known = this.choiceAt(indexIn(choice) ?? 0)
    const { delta, message, finish_reason } = choice
    if (isReason(finish_reason)) known.finishReason = finish_reason
    if (isJsonObject(delta)) mergeInto(known.message, delta, size)
    else if (isJsonObject(message)) mergeInto(known.message, message, size)
    const facts = Object.entries(choice).filter(([key]) => !CHOICE_MEMBERS.has(key))
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

/** Streams start with an empty `content` even if the message has only tool calls or the like: then it is null. */
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
