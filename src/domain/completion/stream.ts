import { utf8Bytes } from '../codec/text.js'
import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import { AnswerBuilder } from './answer-builder.js'
import { estimated, reportedIn, unknown, type Metered, type Usage } from './usage.js'

interface Asked {
  readonly publicModel: string
  /** How many choices were asked for. */
  readonly n: number
  /** Whether the client asked for the usage. */
  readonly includeUsage: boolean
  readonly promptBytes: number
}

/** What becomes of one chunk: the client's, null for one that it did not ask for, or why it is none. */
export type Taken = JsonObject | null | 'malformed' | 'upstream-error'

/** One streamed answer as it goes by: rewritten, checked, metered and put together. */
export class CompletionStream {
  readonly answer = new AnswerBuilder()
  private usage: Usage | null = null
  private contentBytes = 0
  private hasStarted = false
  private readonly finished = new Set<number>()

  constructor(private readonly asked: Asked) {}

  take(chunk: Json): Taken {
    if (!isJsonObject(chunk)) return 'malformed'
    if (chunk['error'] !== undefined && chunk['error'] !== null) return 'upstream-error'
    const { choices } = chunk
    if (!Array.isArray(choices) || !choices.every(isJsonObject)) return 'malformed'
    this.hasStarted = true
    this.usage = reportedIn(chunk['usage']) ?? this.usage
    for (const choice of choices as readonly JsonObject[]) this.takeChoice(choice)
    this.answer.take(chunk, choices)
    return this.shown(chunk, choices)
  }

  /** Every choice that was asked for has said why it ended. */
  get isComplete(): boolean {
    return this.finished.size >= this.asked.n
  }

  get metered(): Metered {
    if (this.usage !== null && this.isComplete) return { metering: 'reported', usage: this.usage }
    if (!this.hasStarted) return unknown
    if (this.usage !== null) return { metering: 'estimated', usage: this.usage }
    return estimated(this.asked.promptBytes, this.contentBytes)
  }

  private takeChoice({ index, delta, finish_reason }: JsonObject): void {
    if (typeof finish_reason === 'string') this.finished.add(typeof index === 'number' ? index : 0)
    if (isJsonObject(delta)) this.contentBytes += bytesIn(delta)
  }

  /** A client that did not ask for usage sees none of it, in no chunk. */
  private shown(chunk: JsonObject, choices: readonly Json[]): JsonObject | null {
    const { publicModel, includeUsage } = this.asked
    if (includeUsage) return { ...chunk, model: publicModel }
    if (choices.length === 0 && 'usage' in chunk) return null
    const { usage: _, ...rest } = chunk
    return { ...rest, model: publicModel }
  }
}

/** Bytes of what a model wrote in a piece of an answer: its texts, and the names and arguments of tool calls. */
const bytesIn = (delta: JsonObject): number =>
  Object.entries(delta).reduce((sum, [key, value]) => (UNWRITTEN.has(key) ? sum : sum + bytesOf(value)), 0)

const UNWRITTEN = new Set(['role', 'id', 'type', 'index'])

const bytesOf = (value: Json): number => {
  if (typeof value === 'string') return utf8Bytes(value)
  if (Array.isArray(value)) return value.reduce<number>((sum, item: Json) => sum + bytesOf(item), 0)
  return isJsonObject(value) ? bytesIn(value) : 0
}
