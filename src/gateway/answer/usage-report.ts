import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { readingOf } from '../../domain/calls/usage/reading.js'
import { EXTRA_UNITS, forEach } from '../../domain/prices/units.js'
import { EXTRAS, type Extra, type ServiceTier } from '../../domain/prices/variant.js'

/** Token counts of one request. */
export interface Usage extends Readonly<Record<Extra, number>> {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  /** Prompt tokens read from a cache. */
  readonly cache_read_input_tokens: number
  /** Prompt tokens written to a cache. */
  readonly cache_creation_input_tokens: number
  /** The part of them that is cached for an hour. */
  readonly cache_creation_1h_input_tokens: number
  /** The cost that the upstream reported, in units of 10^-9. */
  readonly reported_cost: number
  readonly service_tier?: ServiceTier
  /** Members of the report that change the price and that no figure has. */
  readonly uncharged?: ReadonlyMap<string, Json>
}

/** What a report of usage says, or several together. */
export interface Report extends Omit<Usage, 'completion_tokens' | 'service_tier' | 'uncharged'> {
  /** Undefined if it is not reported. 0 for a prompt or total says as little. */
  readonly completion_tokens: number | undefined
  /** Whether a figure is no count or absurd, and so was not read. */
  readonly isOdd: boolean
}

export const NO_REPORT: Report = {
  prompt_tokens: 0,
  completion_tokens: undefined,
  total_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_creation_1h_input_tokens: 0,
  ...forEach(EXTRAS, () => 0),
  reported_cost: 0,
  isOdd: false,
}

/**
 * A report of usage, read as all others of the service; null if it has neither tokens nor units. A total beyond prompt and
 * completion has the reasoning that some upstreams report nowhere else.
 */
export const reportIn = (value: Json | undefined, most: number): Report | null => {
  if (!isJsonObject(value)) return null
  const reading = readingOf(value, { most })
  const { prompt = 0, completion, isOdd } = reading
  const total = reading.total < Number.MAX_SAFE_INTEGER ? reading.total : 0
  if (
    prompt === 0 &&
    completion === undefined &&
    total === 0 &&
    !EXTRA_UNITS.some((unit) => reading.extras[unit] > 0)
  )
    return null
  const written = prompt > 0 && total > prompt ? Math.max(completion ?? 0, total - prompt) : completion
  return {
    prompt_tokens: prompt || (written ? Math.max(0, total - written) : 0),
    completion_tokens: written,
    total_tokens: total,
    cache_read_input_tokens: reading.cacheRead,
    cache_creation_input_tokens: reading.cacheCreation,
    cache_creation_1h_input_tokens: reading.cacheCreation1h,
    ...reading.extras,
    reported_cost: reading.cost,
    isOdd,
  }
}

/** The tokens of a report; 0 for any other value. */
export const tokensReportedIn = (value: Json): number => {
  const { prompt_tokens, completion_tokens = 0, total_tokens } = reportIn(value, Infinity) ?? NO_REPORT
  return Math.max(total_tokens, prompt_tokens + completion_tokens)
}

const COUNTS = Object.keys(NO_REPORT).filter(
  (name): name is keyof Counts => name !== 'completion_tokens' && name !== 'isOdd',
)

type Counts = Omit<Report, 'completion_tokens' | 'isOdd'>

const eachCount = (of: (name: keyof Counts) => number): Counts =>
  Object.fromEntries(COUNTS.map((name) => [name, of(name)])) as unknown as Counts

/** The maximum of each figure. Some upstreams report the prompt first and the completion last, or end with zeros. */
export const greatest = (a: Report, b: Report): Report => ({
  ...eachCount((name) => Math.max(a[name], b[name])),
  completion_tokens:
    a.completion_tokens === undefined
      ? b.completion_tokens
      : Math.max(a.completion_tokens, b.completion_tokens ?? 0),
  isOdd: a.isOdd || b.isOdd,
})

/** Choices share a prompt, and each has a completion of its own. */
export const ofBoth = (a: Report, b: Report): Report => ({
  ...greatest(a, b),
  completion_tokens: (a.completion_tokens ?? 0) + (b.completion_tokens ?? 0),
  completion_audio_tokens: a.completion_audio_tokens + b.completion_audio_tokens,
  ...forEach(EXTRA_UNITS, (unit) => a[unit] + b[unit]),
  reported_cost: a.reported_cost + b.reported_cost,
})

/**
 * The report of a streamed message. Its parts exclude each other and may be in different events, so the greatest of each is read
 * and not the sums. The first event has only the beginning of the completion.
 */
export class MessageReport {
  private members: JsonObject = {}

  /** The report so far; undefined for other events. */
  take({ type, message, usage }: JsonObject): JsonObject | undefined {
    const isStart = type === 'message_start'
    const part = isStart && isJsonObject(message) ? message['usage'] : usage
    if ((!isStart && type !== 'message_delta') || !isJsonObject(part)) return undefined
    const { output_tokens, output_tokens_details, ...start } = part
    this.members = greatestMembers(this.members, isStart ? start : part)
    return this.members
  }
}

const greatestMembers = (a: JsonObject, b: JsonObject): JsonObject => {
  const found: Record<string, Json> = { ...a }
  for (const [name, value] of Object.entries(b)) {
    const before = a[name]
    if (isJsonObject(value)) found[name] = greatestMembers(isJsonObject(before) ? before : {}, value)
    else if (typeof value === 'number')
      found[name] = typeof before === 'number' ? Math.max(before, value) : value
    else if (value !== null) found[name] = value
  }
  return found
}
