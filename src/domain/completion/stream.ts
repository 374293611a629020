import { withDigitsOf } from '../json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import type { AnswerBuilder } from './answer-builder.js'
import { estimated, reportedIn, unknown, type Metered, type Usage } from './usage.js'
import { choicesIn, isReason, isUpstreamError } from './whole.js'
import { writtenBytes } from './written-bytes.js'

interface Asked {
  readonly publicModel: string
  /** How many choices were asked for. */
  readonly n: number
  /** Whether the client asked for the usage. */
  readonly includeUsage: boolean
  /** Whether the usage so far, in each chunk, was asked for by the gateway alone. */
  readonly hidesRunningUsage: boolean
  readonly promptTokens: number
}

/** What becomes of one chunk: the client's, null for one that it did not ask for, or why it is none. */
export type Taken = JsonObject | null | 'malformed' | 'upstream-error'

/** As many choices as a request can ask for. */
const MOST_CHOICES = 128

/** One streamed answer as it goes by: rewritten, checked, metered and put together. */
export class CompletionStream {
  private usage: Usage | null = null
  private contentBytes = 0
  private isDone = false
  private readonly seen = new Set<number>()
  private readonly finished = new Set<number>()
  private hasStarted = false

  constructor(
    private readonly asked: Asked,
    /** What it is put together by; null where nothing of it is kept. */
    private readonly answer: AnswerBuilder | null,
  ) {}

  take(chunk: Json): Taken {
    if (!isJsonObject(chunk)) return 'malformed'
    if (isUpstreamError(chunk)) return 'upstream-error'
    const choices = isUsageAlone(chunk) ? [] : choicesIn(chunk)
    if (choices?.every(hasPlace) !== true) return 'malformed'
    this.hasStarted = true
    this.usage = reportedIn(chunk['usage']) ?? this.usage
    for (const choice of choices) this.takeChoice(choice)
    this.answer?.take(chunk, choices)
    return this.shown(chunk, choices)
  }

  /** The upstream said that nothing more comes. */
  done(): void {
    this.isDone = true
  }

  /** Every choice has said why it ended; as many came as were asked for, or the upstream said that there are no more. */
  get isComplete(): boolean {
    const { seen, finished, isDone, asked } = this
    return finished.size > 0 && finished.size === seen.size && (isDone || finished.size >= asked.n)
  }

  /** Whether the model has written anything yet. */
  get hasContent(): boolean {
    return this.contentBytes > 0
  }

  get metered(): Metered {
    if (this.usage !== null && this.isComplete) return { metering: 'reported', usage: this.usage }
    if (!this.hasStarted) return unknown
    return estimated(this.asked.promptTokens, this.contentBytes, this.usage)
  }

  private takeChoice({ index, delta, finish_reason }: JsonObject): void {
    const place = typeof index === 'number' ? index : 0
    this.seen.add(place)
    if (isReason(finish_reason)) this.finished.add(place)
    if (isJsonObject(delta)) this.contentBytes += writtenBytes(delta)
  }

  /** A client that did not ask for usage sees none of it, in no chunk. */
  private shown(chunk: JsonObject, choices: readonly Json[]): JsonObject | null {
    const { publicModel, includeUsage, hidesRunningUsage } = this.asked
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

/** The last chunk of some upstreams has what was used, and no list of choices at all. */
const isUsageAlone = ({ choices, usage }: JsonObject): boolean =>
  (choices === undefined || choices === null) && isJsonObject(usage)

const hasPlace = ({ index }: JsonObject): boolean =>
  index === undefined ||
  index === null ||
  (Number.isInteger(index) && Number(index) >= 0 && Number(index) < MOST_CHOICES)
