import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonBytesAtMost } from '../../kernel/json/measure.js'
import { wellFormed } from '../../kernel/json/well-formed.js'
import { AnswerMemory, ANSWER_LIMITS, type AnswerLimits } from './answer-memory.js'
import type { BufferedText, TextKind, SpoolRange } from './buffered-text.js'
import { headOf, jsonParts, type Outline } from './outline.js'
import { isReason } from './whole-answer.js'

type Texts = Map<string, BufferedText>

interface Choice {
  readonly texts: Texts
  readonly toolCalls: ToolCalls
  readonly logprobs: Texts
  role: string
  finish_reason: Json
}

/** Assembles a streamed response into the equivalent non-streamed one. */
export class AnswerBuilder {
  readonly memory: AnswerMemory
  private readonly choices = new Map<number, Choice>()
  private head: { readonly id: Json; readonly created: Json } | undefined
  private usage: Json = null

  constructor(
    private readonly publicModel: string,
    limits: AnswerLimits = ANSWER_LIMITS,
  ) {
    this.memory = new AnswerMemory(limits)
  }

  take(chunk: JsonObject, choices: readonly JsonObject[]): void {
    this.head ??= { id: short(chunk['id']), created: short(chunk['created']) }
    const usage = chunk['usage']
    if (isJsonObject(usage)) this.usage = short(usage)
    for (const { index, delta, finish_reason, logprobs } of choices) {
      const choice = this.choiceAt(typeof index === 'number' ? index : 0)
      if (isReason(finish_reason)) choice.finish_reason = word(finish_reason)
      if (isJsonObject(delta)) this.takeDelta(choice, delta)
      if (isJsonObject(logprobs)) this.takeLogprobs(choice, logprobs)
    }
  }

  /** The part held in memory; null if nothing was received. */
  headValue(): JsonObject | null {
    return headOf(this.outline(this.memory.isCut || this.memory.hasRest)) as JsonObject | null
  }

  /** The whole response as canonical JSON text: the parts in memory, and the spooled ranges between them. */
  jsonParts(): Iterable<string | SpoolRange> {
    return jsonParts(this.outline(this.memory.isCut))
  }

  private outline(isCut: boolean): Outline {
    if (this.head === undefined) return null
    return {
      ...this.head,
      object: 'chat.completion',
      model: this.publicModel,
      choices: [...this.choices].sort(([a], [b]) => a - b).map(wholeChoice),
      usage: this.usage,
      ...(isCut ? { tallytree_truncated: true } : {}),
    }
  }

  private takeDelta(choice: Choice, delta: JsonObject): void {
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'role') {
        if (typeof value === 'string' && value !== '') choice.role = word(value)
      } else if (key === 'tool_calls' && Array.isArray(value)) choice.toolCalls.take(value as readonly Json[])
      else if (typeof value === 'string' && value !== '')
        this.memory.addText(this.textAt(choice.texts, key, 'string'), value)
    }
  }

  private takeLogprobs(choice: Choice, logprobs: JsonObject): void {
    for (const [key, tokens] of Object.entries(logprobs))
      if (Array.isArray(tokens) && tokens.length > 0) {
        const text = this.textAt(choice.logprobs, key, 'list')
        for (const token of tokens as readonly Json[]) this.memory.addItem(text, token)
      }
  }

  private textAt(texts: Texts, name: string, kind: TextKind): BufferedText | undefined {
    const key = word(name)
    const text = texts.get(key) ?? this.memory.newText(kind)
    if (text !== undefined) texts.set(key, text)
    return text
  }

  private choiceAt(index: number): Choice {
    const known = this.choices.get(index)
    if (known !== undefined) return known
    const choice: Choice = {
      texts: new Map(),
      toolCalls: new ToolCalls(this.memory),
      logprobs: new Map(),
      role: 'assistant',
      finish_reason: null,
    }
    this.choices.set(index, choice)
    return choice
  }
}

/** Limit for keys, roles and finish reasons, in characters; the rest is dropped. */
const MOST_WORD = 256

const word = (text: string): string => text.slice(0, MOST_WORD).toWellFormed()

/** Limit for usage figures and ids, in bytes; longer ones are dropped. */
const MOST_SHORT = 16_384

const short = (value: Json | undefined): Json =>
  value !== undefined && jsonBytesAtMost(value, MOST_SHORT) <= MOST_SHORT ? wellFormed(value) : null

const wholeChoice = ([index, { role, texts, toolCalls, logprobs, finish_reason }]: [
  number,
  Choice,
]): Outline => ({
  index,
  message: {
    role,
    content: null,
    ...Object.fromEntries(texts),
    ...(toolCalls.size === 0 ? {} : { tool_calls: toolCalls.whole() }),
  },
  ...(logprobs.size === 0 ? {} : { logprobs: Object.fromEntries(logprobs) }),
  finish_reason,
})

interface ToolCall {
  id: BufferedText | null
  readonly name: BufferedText
  readonly pieces: BufferedText
}

/** Assembles the tool calls of a choice from their pieces. */
class ToolCalls {
  private readonly calls = new Map<number, ToolCall>()

  constructor(private readonly memory: AnswerMemory) {}

  get size(): number {
    return this.calls.size
  }

  take(pieces: readonly Json[]): void {
    for (const piece of pieces) {
      if (!isJsonObject(piece)) continue
      const { index, id, function: called } = piece
      const call = this.at(typeof index === 'number' ? index : this.calls.size)
      if (call === undefined) continue
      if (typeof id === 'string' && call.id === null) {
        call.id = this.memory.newText('string') ?? null
        this.append(call.id, id)
      }
      if (!isJsonObject(called)) continue
      this.append(call.name, called['name'])
      this.append(call.pieces, called['arguments'])
    }
  }

  whole(): readonly Outline[] {
    return [...this.calls]
      .sort(([a], [b]) => a - b)
      .map(([, { id, name, pieces }]) => ({ id, type: 'function', function: { name, arguments: pieces } }))
  }

  private at(index: number): ToolCall | undefined {
    const known = this.calls.get(index)
    if (known !== undefined) return known
    const [name, pieces] = [this.memory.newText('string'), this.memory.newText('string')]
    if (name === undefined || pieces === undefined) return undefined
    const call = { id: null, name, pieces }
    this.calls.set(index, call)
    return call
  }

  private append(text: BufferedText | null, piece: Json | undefined): void {
    if (text !== null && typeof piece === 'string') this.memory.addText(text, piece)
  }
}
