import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { writtenIn, type AnswerFold } from './fold.js'
import { indexIn } from './places.js'
import { reportsError } from './reported-error.js'
import { unknown, UsageReports, type ExpectedUsage, type Metered, writtenBytes } from './usage.js'
import { asChunk, endsEmpty, holdsText, isReason } from './whole-answer.js'

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
  private hasText = false
  private endedEmpty = false
  private lastPart = 0
  private maybeError: Json | undefined
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
    if (this.doneSeen) return this.takeAfterDone(chunk)
    const reports = reportsError(chunk)
    if (reports === 'yes') return { error: chunk }
    if (reports === 'maybe') this.maybeError = chunk
    if (typeof chunk === 'string') this.takeText(chunk)
    if (!isJsonObject(chunk)) return NONE
    return this.takeChunk(this.isAnswered ? chunk : asChunk(chunk))
  }

  /** Text that is no chunk. One word, such as `ping`, says nothing. */
  takeText(text: string): void {
    if (!this.doneSeen && /\S\s+\S/.test(text)) this.maybeError = text
  }

  private takeChunk(chunk: JsonObject): ChunkResult {
    const isChunk = Array.isArray(chunk['choices'])
    const choices = isChunk ? (chunk['choices'] as readonly Json[]).filter(isJsonObject) : []
    const hasUsage = this.reports.take(chunk, choices)
    if (!isChunk && !hasUsage) return NONE
    for (const choice of choices) this.takeChoice(choice)
    this.answer?.take(chunk, choices)
    return { chunk: this.shown(isChunk ? chunk : { ...chunk, choices }, choices) }
  }

  /** Only usage is of interest then. */
  private takeAfterDone(chunk: Json): ChunkResult {
    if (!isJsonObject(chunk)) return NONE
    const choices = Array.isArray(chunk['choices'])
      ? (chunk['choices'] as readonly Json[]).filter(isJsonObject)
      : []
    if (!this.reports.take(chunk, choices)) return NONE
    const { usage = null } = chunk
    this.answer?.take({ usage }, [])
    return { chunk: usage === null ? null : this.shown({ ...chunk, choices: [] }, []) }
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

  /** Whether there is an answer, maybe an empty one, and not only a role. */
  get isAnswered(): boolean {
    return this.firstContentAt !== undefined || this.endedEmpty
  }

  /** Counts the chunks with a part of the answer. */
  get parts(): number {
    return this.lastPart
  }

  /** What may be an error that cut the answer; undefined if the answer went on after it. */
  get suspected(): Json | undefined {
    return this.maybeError
  }

  /** The upstream sent `[DONE]`, or all requested choices have a finish reason. */
  get isComplete(): boolean {
    const { seen, finished, isDone, request, maybeError } = this
    if (!this.isAnswered) return false
    if (isDone && maybeError === undefined) return true
    return finished.size > 0 && finished.size === seen.size && finished.size >= request.n
  }

  get metered(): Metered {
    return this.hasBegun ? this.reports.metered(this.contentBytes, this.isComplete) : unknown
  }

  private takeChoice(choice: JsonObject): void {
    const place = indexIn(choice) ?? 0
    const { finish_reason } = choice
    this.seen.add(place)
    const { delta, message } = writtenIn(choice)
    if (delta !== undefined) this.withDelta.add(place)
    // A whole message after deltas repeats them.
    const written = delta ?? (this.withDelta.has(place) ? undefined : message)
    if (written !== undefined) this.takeWritten(written)
    if (!isReason(finish_reason)) return
    this.finished.add(place)
    this.lastPart += 1
    this.endedEmpty ||= endsEmpty(finish_reason, this.hasText)
  }

  private takeWritten(written: JsonObject): void {
    this.hasText ||= holdsText(written)
    const bytes = writtenBytes(written)
    if (bytes === 0) return
    this.firstContentAt ??= this.now()
    this.contentBytes += bytes
    this.lastPart += 1
    this.maybeError = undefined
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
