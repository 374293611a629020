import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { AnswerMemory } from './answer-memory.js'
import type { BufferedText } from './buffered-text.js'
import type { Outline } from './outline.js'

interface ToolCall {
  id: BufferedText | null
  readonly name: BufferedText
  readonly pieces: BufferedText
}

/** Assembles the tool calls of a choice from their pieces. */
export class ToolCalls {
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
