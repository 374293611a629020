import { isJsonObject, type Json, type JsonObject } from '../json/json.js'

/** Characters of a streamed answer that are put together for the record; what comes behind is left out of it. */
const MOST_CHARACTERS = 262_144

interface Choice {
  readonly texts: Map<string, string[]>
  readonly toolCalls: Map<number, ToolCall>
  role: string
  finish_reason: Json
}

interface ToolCall {
  id: Json
  name: string
  readonly pieces: string[]
}

/** Puts a streamed answer together as the whole answer that it stands for. */
export class AnswerBuilder {
  private readonly choices = new Map<number, Choice>()
  private head: JsonObject | undefined
  private usage: Json = null
  private left = MOST_CHARACTERS

  take(chunk: JsonObject, choices: readonly JsonObject[]): void {
    this.head ??= chunk
    this.usage = chunk['usage'] ?? this.usage
    for (const { index, delta, finish_reason } of choices) {
      const choice = this.choiceAt(typeof index === 'number' ? index : 0)
      if (typeof finish_reason === 'string') choice.finish_reason = finish_reason
      if (isJsonObject(delta)) this.takeDelta(choice, delta)
    }
  }

  /** Null where nothing came. */
  whole(publicModel: string): JsonObject | null {
    if (this.head === undefined) return null
    return {
      id: this.head['id'] ?? null,
      object: 'chat.completion',
      created: this.head['created'] ?? null,
      model: publicModel,
      choices: [...this.choices].sort(([a], [b]) => a - b).map(wholeChoice),
      usage: this.usage,
      ...(this.left <= 0 ? { tallytree_truncated: true } : {}),
    }
  }

  private takeDelta(choice: Choice, delta: JsonObject): void {
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'role' && typeof value === 'string' && value !== '') choice.role = value
      else if (key === 'tool_calls' && Array.isArray(value))
        this.takeToolCalls(choice, value as readonly Json[])
      else if (typeof value === 'string') this.append(textsOf(choice, key), value)
    }
  }

  private takeToolCalls({ toolCalls }: Choice, calls: readonly Json[]): void {
    for (const call of calls) {
      if (!isJsonObject(call)) continue
      const at = typeof call['index'] === 'number' ? call['index'] : toolCalls.size
      const known = toolCalls.get(at) ?? { id: null, name: '', pieces: [] }
      toolCalls.set(at, known)
      known.id = call['id'] ?? known.id
      const called = call['function']
      if (!isJsonObject(called)) continue
      if (typeof called['name'] === 'string') known.name = called['name']
      if (typeof called['arguments'] === 'string') this.append(known.pieces, called['arguments'])
    }
  }

  private append(pieces: string[], text: string): void {
    if (this.left <= 0 || text === '') return
    pieces.push(text.slice(0, this.left))
    this.left -= text.length
  }

  private choiceAt(index: number): Choice {
    const known = this.choices.get(index)
    if (known !== undefined) return known
    const choice = { texts: new Map(), toolCalls: new Map(), role: 'assistant', finish_reason: null }
    this.choices.set(index, choice)
    return choice
  }
}

const textsOf = ({ texts }: Choice, key: string): string[] => {
  const known = texts.get(key)
  if (known !== undefined) return known
  const pieces: string[] = []
  texts.set(key, pieces)
  return pieces
}

const wholeChoice = ([index, { role, texts, toolCalls, finish_reason }]: [number, Choice]): JsonObject => ({
  index,
  message: {
    role,
    content: null,
    ...Object.fromEntries([...texts].map(([key, pieces]) => [key, pieces.join('')])),
    ...(toolCalls.size === 0 ? {} : { tool_calls: [...toolCalls.values()].map(wholeToolCall) }),
  },
  finish_reason,
})

const wholeToolCall = ({ id, name, pieces }: ToolCall): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: pieces.join('') },
})
