import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import type { AnswerBuilder } from './answer-builder.js'
import { estimated, greatest, isCredible, reportedIn, unknown, type Metered, type Usage } from './usage.js'
import { choicesIn, isReason, isUpstreamError } from './whole-answer.js'
import { writtenBytes } from './written-bytes.js'

interface StreamedRequest {
  readonly publicModel: string
  /** Requested number of choices. */
  readonly n: number
  /** Whether the client requested usage. */
  readonly includeUsage: boolean
  /** Whether only the gateway requested usage in each chunk. */
  readonly hidesRunningUsage: boolean
  readonly promptTokens: number
}

/** The chunk to send to the client, null for none, or why it is invalid. */
export type ChunkResult = JsonObject | null | 'malformed' | 'upstream-error'

/** The maximum of `n` in a request. */
const MOST_CHOICES = 128

/** Validates, rewrites and meters a streamed response, and passes it to the answer builder. */
export class CompletionStream {
  private usage: Usage | null = null
  private contentBytes = 0
  private isDone = false
  private readonly seen = new Set<number>()
  private readonly finished = new Set<number>()
  private hasStarted = false

  constructor(
    private readonly request: StreamedRequest,
    /** Null if the response is not recorded. */
    private readonly answer: AnswerBuilder | null,
  ) {}

  take(chunk: Json): ChunkResult {
    if (!isJsonObject(chunk)) return 'malformed'
    if (isUpstreamError(chunk)) return 'upstream-error'
    const choices = isUsageAlone(chunk) ? [] : choicesIn(chunk)
    if (choices?.every(hasPlace) !== true) return 'malformed'
    this.hasStarted = true
    this.usage = greatest(this.usage, reportedIn(chunk['usage']))
    for (const choice of choices) this.takeChoice(choice)
    this.answer?.take(chunk, choices)
    return this.shown(chunk, choices)
  }

  /** The upstream sent `[DONE]`. */
  done(): void {
    this.isDone = true
  }

  /** Every choice has a finish reason, and either all requested choices came or the upstream sent `[DONE]`. */
  get isComplete(): boolean {
    const { seen, finished, isDone, request } = this
    return finished.size > 0 && finished.size === seen.size && (isDone || finished.size >= request.n)
  }

  get hasContent(): boolean {
    return this.contentBytes > 0
  }

  get metered(): Metered {
    const { usage, contentBytes } = this
    if (usage !== null && this.isComplete && isCredible(usage, contentBytes))
      return { metering: 'reported', usage }
    if (!this.hasStarted) return unknown
    return estimated(this.request.promptTokens, contentBytes, usage)
  }

  private takeChoice({ index, delta, finish_reason }: JsonObject): void {
    const place = typeof index === 'number' ? index : 0
    this.seen.add(place)
    if (isReason(finish_reason)) this.finished.add(place)
    if (isJsonObject(delta)) this.contentBytes += writtenBytes(delta)
  }

  /** Removes usage for a client that did not request it. */
  private shown(chunk: JsonObject, choices: readonly Json[]): JsonObject | null {
    const { publicModel, includeUsage, hidesRunningUsage } = this.request
    const model = { model: publicModel, ...(isUsageAlone(chunk) ? { choices } : {}) }
    if (includeUsage)
      return withDigitsOf(
        chunk,
        hidesRunningUsage && choices.length > 0 && 'usage' in chunk
          ? { ...chunk, ...model, usage: null }
          : { ...chunk, ...model },
      )
    const { usage, ...rest } = chunk
    return choices.length === 0 && isJsonObject(usage) ? null : withDigitsOf(chunk, { ...rest, ...model })
  }
}

/** Some upstreams send the usage in a last chunk without a list of choices. */
const isUsageAlone = ({ choices, usage }: JsonObject): boolean =>
  (choices === undefined || choices === null) && isJsonObject(usage)

const hasPlace = ({ index }: JsonObject): boolean =>
  index === undefined ||
  index === null ||
  (Number.isInteger(index) && Number(index) >= 0 && Number(index) < MOST_CHOICES)
