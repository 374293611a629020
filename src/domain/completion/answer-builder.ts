import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import { jsonBytesAtMost } from '../json/measure.js'
import { wellFormed } from '../json/well-formed.js'
import { AnswerMemory, BOUNDS, type Bounds } from './answer-memory.js'
import type { KeptText, Kind, Run } from './kept-text.js'
import { begunOf, writtenOf, type Outline } from './outline.js'
import { ToolCalls } from './tool-calls.js'
import { isReason } from './whole.js'

type Texts = Map<string, KeptText>

interface Choice {
  readonly texts: Texts
  readonly toolCalls: ToolCalls
  readonly logprobs: Texts
  role: string
  finish_reason: Json
}

/** Puts a streamed answer together as the whole answer that it stands for. */
export class AnswerBuilder {
  readonly memory: AnswerMemory
  private readonly choices = new Map<number, Choice>()
  private head: { readonly id: Json; readonly created: Json } | undefined
  private usage: Json = null

  constructor(
    private readonly publicModel: string,
    bounds: Bounds = BOUNDS,
  ) {
    this.memory = new AnswerMemory(bounds)
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

  /** As much of it as stays in memory; null where nothing came. */
  begun(): JsonObject | null {
    return begunOf(this.outline(this.memory.isCut || this.memory.hasRest)) as JsonObject | null
  }

  /** All of it as canonical JSON text, in order: what is in memory, and the runs in its spool between. */
  written(): Iterable<string | Run> {
    return writtenOf(this.outline(this.memory.isCut))
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

  private textAt(texts: Texts, name: string, kind: Kind): KeptText | undefined {
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

/** Characters of a key, a role or a reason; what is behind them is left out. */
const MOST_WORD = 256

const word = (text: string): string => text.slice(0, MOST_WORD).toWellFormed()

/** Bytes of figures or an id; longer ones are left out. */
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
