import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import { jsonBytesAtMost } from '../json/measure.js'
import { ToolCalls, type Take } from './tool-calls.js'

/** Characters of a streamed answer that are put together for the record; what comes behind is left out of it. */
const MOST_CHARACTERS = 262_144

interface Choice {
  readonly texts: Map<string, string[]>
  readonly toolCalls: ToolCalls
  readonly logprobs: Json[]
  role: string
  finish_reason: Json
}

/** Puts a streamed answer together as the whole answer that it stands for. */
export class AnswerBuilder {
  private readonly choices = new Map<number, Choice>()
  private head: { readonly id: Json; readonly created: Json } | undefined
  private usage: Json = null
  private left = MOST_CHARACTERS

  take(chunk: JsonObject, choices: readonly JsonObject[]): void {
    this.head ??= { id: this.short(chunk['id']), created: this.short(chunk['created']) }
    const usage = chunk['usage']
    if (isJsonObject(usage)) this.usage = this.short(usage)
    for (const { index, delta, finish_reason, logprobs } of choices) {
      const choice = this.choiceAt(typeof index === 'number' ? index : 0)
      if (typeof finish_reason === 'string') choice.finish_reason = this.short(finish_reason)
      if (isJsonObject(delta)) this.takeDelta(choice, delta)
      if (isJsonObject(logprobs) && Array.isArray(logprobs['content']))
        this.takeLogprobs(choice, logprobs['content'] as readonly Json[])
    }
  }

  /** Null where nothing came. */
  whole(publicModel: string): JsonObject | null {
    if (this.head === undefined) return null
    return {
      ...this.head,
      object: 'chat.completion',
      model: publicModel,
      choices: [...this.choices].sort(([a], [b]) => a - b).map(wholeChoice),
      usage: this.usage,
      ...(this.left < 0 ? { tallytree_truncated: true } : {}),
    }
  }

  private takeDelta(choice: Choice, delta: JsonObject): void {
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'role') {
        if (typeof value === 'string' && value !== '') choice.role = value.slice(0, MOST_SHORT)
      } else if (key === 'tool_calls' && Array.isArray(value))
        choice.toolCalls.take(value as readonly Json[], this.taking)
      else if (typeof value === 'string' && value !== '') this.append(choice, key, value)
    }
  }

  private append({ texts }: Choice, key: string, text: string): void {
    const known = texts.get(key)
    const taken = this.taking(text)
    if (taken === '') return
    if (known !== undefined) known.push(taken)
    else if (this.taking(key) === key) texts.set(key, [taken])
  }

  private takeLogprobs({ logprobs }: Choice, tokens: readonly Json[]): void {
    for (const token of tokens) {
      const bytes = jsonBytesAtMost(token, MOST_CHARACTERS)
      if (this.left > 0 && bytes <= this.left) logprobs.push(token)
      this.left -= bytes
    }
  }

  private readonly taking: Take = (text) => {
    const taken = this.left > 0 ? text.slice(0, this.left) : ''
    this.left -= text.length
    return taken
  }

  private short(value: Json | undefined): Json {
    if (value === undefined) return null
    return jsonBytesAtMost(value, MOST_SHORT) <= MOST_SHORT ? value : null
  }

  private choiceAt(index: number): Choice {
    const known = this.choices.get(index)
    if (known !== undefined) return known
    const choice: Choice = {
      texts: new Map(),
      toolCalls: new ToolCalls(),
      logprobs: [],
      role: 'assistant',
      finish_reason: null,
    }
    this.choices.set(index, choice)
    return choice
  }
}

/** Bytes of a figure, a name or an id; longer ones are left out. */
const MOST_SHORT = 16_384

const wholeChoice = ([index, { role, texts, toolCalls, logprobs, finish_reason }]: [
  number,
  Choice,
]): JsonObject => ({
  index,
  message: {
    role,
    content: null,
    ...Object.fromEntries([...texts].map(([key, pieces]) => [key, pieces.join('')])),
    ...(toolCalls.size === 0 ? {} : { tool_calls: toolCalls.whole() }),
  },
  ...(logprobs.length === 0 ? {} : { logprobs: { content: logprobs } }),
  finish_reason,
})
