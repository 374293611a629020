import { isJsonObject, type Json, type JsonObject } from '../json/json.js'

/** As much of a text as there is room for. */
export type Take = (text: string) => string

interface ToolCall {
  id: Json
  readonly name: string[]
  readonly pieces: string[]
}

/** Beyond so many the record has no more of them. */
const MOST_CALLS = 1024

/** The tool calls of a choice, put together from the pieces in which they come. */
export class ToolCalls {
  private readonly calls = new Map<number, ToolCall>()

  get size(): number {
    return this.calls.size
  }

  take(pieces: readonly Json[], taking: Take): void {
    for (const piece of pieces) {
      if (!isJsonObject(piece)) continue
      const { index, id, function: called } = piece
      const call = this.at(typeof index === 'number' ? index : this.calls.size)
      if (call === undefined) continue
      if (typeof id === 'string' && call.id === null) call.id = taking(id)
      if (!isJsonObject(called)) continue
      append(call.name, called['name'], taking)
      append(call.pieces, called['arguments'], taking)
    }
  }

  whole(): readonly JsonObject[] {
    return [...this.calls]
      .sort(([a], [b]) => a - b)
      .map(([, { id, name, pieces }]) => ({
        id,
        type: 'function',
        function: { name: name.join(''), arguments: pieces.join('') },
      }))
  }

  private at(index: number): ToolCall | undefined {
    const known = this.calls.get(index)
    if (known !== undefined || this.calls.size >= MOST_CALLS) return known
    const call = { id: null, name: [], pieces: [] }
    this.calls.set(index, call)
    return call
  }
}

/** Pieces that hold nothing may come without end. */
const append = (pieces: string[], piece: Json | undefined, taking: Take): void => {
  const taken = typeof piece === 'string' ? taking(piece) : ''
  if (taken !== '') pieces.push(taken)
}
