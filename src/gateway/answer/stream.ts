import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { writtenIn, type AnswerFold } from './fold.js'
import { indexIn } from './places.js'
import { unknown, UsageReports, type ExpectedUsage, type Metered, writtenBytes } from './usage.js'
import { isReason, isUpstreamError } from './whole-answer.js'

interface StreamedRequest {
  readonly publicModel: string
  /** Requested number of choices. */
  readonly n: number
  /** Whether the client requested usage. */
  readonly includeUsage: boolean
  /** Whether only the gateway requested usage in each chunk. */
  readonly hidesRunningUsage: boolean
  readonly expected: ExpectedUsage
}

/** The chunk to send to the client, null for none, or the error that it reports. */
export type ChunkResult = { readonly chunk: JsonObject | null } | { readonly error: Json }

const NONE: ChunkResult = { chunk: null }

/** Rewrites and meters a streamed response, and passes it to the fold. Other JSON than chunks is skipped. */
export class CompletionStream {
  private readonly reports: UsageReports
  private contentBytes = 0
  private doneSeen = false
  private firstContentAt: number | undefined
  private readonly seen = new Set<number>()
  private readonly withDelta = new Set<number>()
  private readonly finished = new Set<number>()

  constructor(
    private readonly request: StreamedRequest,
    /** Null if the response is not recorded. */
    private readonly answer: AnswerFold | null,
    private readonly now: () => number = () => 0,
  ) {
    this.reports = new UsageReports(request.expected)
  }

  take(chunk: Json): ChunkResult {
    if (isUpstreamError(chunk)) return { error: chunk }
    if (!isJsonObject(chunk)) return NONE
    const isChunk = Array.isArray(chunk['choices'])
    const choices = isChunk ? (chunk['choices'] as readonly Json[]).filter(isJsonObject) : []
    const hasUsage = this.reports.take(chunk, choices)
    if (!isChunk && !hasUsage) return NONE
    for (const choice of choices) this.takeChoice(choice)
    this.answer?.take(chunk, choices)
    return { chunk: this.shown(isChunk ? chunk : { ...chunk, choices }, choices) }
  }

  /** Records that the upstream sent `[DONE]`. */
  done(): void {
    this.doneSeen = true
  }

  get isDone(): boolean {
    return this.doneSeen
  }

  /** When the first content arrived, by the clock that was given; undefined before. */
  get contentAt(): number | undefined {
    return this.firstContentAt
  }

  /** Whether a choice has arrived. */
  get hasBegun(): boolean {
    return this.seen.size > 0
  }

  /** The upstream sent `[DONE]`, or all requested choices have a finish reason. */
  get isComplete(): boolean {
    const { seen, finished, isDone, request } = this
    if (isDone) return this.hasBegun
    return finished.size > 0 && finished.size === seen.size && finished.size >= request.n
  }

  get metered(): Metered {
    return this.hasBegun ? this.reports.metered(this.contentBytes, this.isComplete) : unknown
  }

  private takeChoice(choice: JsonObject): void {
    const place = indexIn(choice) ?? 0
    const { finish_reason } = choice
    this.seen.add(place)
    if (isReason(finish_reason)) this.finished.add(place)
    const { delta, message } = writtenIn(choice)
    if (delta !== undefined) this.withDelta.add(place)
    // A whole message after deltas repeats them.
    const written = delta ?? (this.withDelta.has(place) ? undefined : message)
    if (written === undefined) return
    const bytes = writtenBytes(written)
    if (bytes > 0) this.firstContentAt ??= this.now()
    this.contentBytes += bytes
  }

  /** Removes usage for a client that did not request it. */
  private shown(chunk: JsonObject, choices: readonly Json[]): JsonObject | null {
    const { publicModel, includeUsage, hidesRunningUsage } = this.request
    const { usage, ...rest } = chunk
    const model = { model: publicModel }
    if (includeUsage) {
      const isRunning = hidesRunningUsage && choices.length > 0 && usage !== undefined
      return withDigitsOf(chunk, { ...chunk, ...model, ...(isRunning ? { usage: null } : {}) })
    }
    return choices.length === 0 && isJsonObject(usage) ? null : withDigitsOf(chunk, { ...rest, ...model })
  }
}
