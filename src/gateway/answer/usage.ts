import { utf8Bytes } from '../../kernel/codec/text.js'
import { isSearch, searchesIn } from '../../domain/calls/usage/searches.js'
import { namedTierOf, pricedKindOf, unpricedIn } from '../../domain/calls/usage/unpriced-members.js'
import type { ServiceTier } from '../../domain/prices/variant.js'
import { costOf } from '../../domain/gateway/limits/charge.js'
import type { ModelPrice } from '../../domain/gateway/upstreams/content.js'
import { EXTRA_UNITS } from '../../domain/prices/units.js'
import { decimalText } from '../../domain/prices/decimal.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { indexIn } from './places.js'
import {
  greatest,
  MessageReport,
  NO_REPORT,
  ofBoth,
  reportIn,
  type Report,
  type Usage,
} from './usage-report.js'

/** Source of a request's usage figures; `unknown` has none. */
export type Metering = 'reported' | 'estimated' | 'unknown'

export interface Metered {
  readonly metering: Metering
  /** Null if unknown, never 0. */
  readonly usage: Usage | null
}

export const unknown: Metered = { metering: 'unknown', usage: null }

const BYTES_PER_TOKEN = 4

export const tokensIn = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN)

/** The tokens of a prompt. */
export interface PromptTokens {
  readonly estimate: number
  /** No tokenizer makes more of the text. Attachments are estimated in both. */
  readonly most: number
}

/** What is known of a completion before its answer. */
export interface ExpectedUsage {
  /** An estimate. */
  readonly promptTokens: number
  /** A report of more tokens is absurd. */
  readonly mostTokens: number
}

/**
 * The tokens that an API reports: those of prompt and completion, or of a prompt without a completion. Where they are
 * optional, an answer without a report used none.
 */
export type ReportedTokens = 'both' | 'prompt' | 'optional'

/** More than upstreams add unseen: reasoning, pictures, and texts that they search for or keep in a cache. */
const MOST_UNSEEN_TOKENS = 2_000_000

export const expectedUsage = (prompt: PromptTokens, mostCompletionTokens: number): ExpectedUsage => ({
  promptTokens: prompt.estimate,
  mostTokens: prompt.most + mostCompletionTokens + MOST_UNSEEN_TOKENS,
})

/** Above this, in units of 10^-9, a cost that the upstream reports is absurd. */
const mostCost = (tokens: number): number => (10 + tokens * 0.01) * 1e9

/** Members that are a report. */
const REPORTS = ['usage', 'usageMetadata', 'usage_metadata', 'billed_units']

/** Collects the reports of a response or of its chunks. */
export class UsageReports {
  private whole = NO_REPORT
  /** By the index of the choice. */
  private readonly ofChoices = new Map<number, Report>()
  private readonly message = new MessageReport()
  private serviceTier: ServiceTier | null | undefined
  private readonly uncharged = new Map<string, Json>()
  /** Searches that only the output has. */
  private searches = 0

  constructor(
    private readonly expected: ExpectedUsage,
    private readonly reported: ReportedTokens = 'both',
  ) {}

  /** Takes the reports of a response or chunk, of its members and its choices. Returns false for none. */
  take(value: JsonObject, choices: readonly JsonObject[]): boolean {
    this.takeResponse(value)
    const message = this.message.take(value)
    const own = this.reportsIn(
      message === undefined ? [value, ...Object.values(value)] : [{ usage: message }],
    )
    this.whole = own.reduce(greatest, this.whole)
    let count = own.length
    for (const [place, choice] of choices.entries()) {
      const reports = this.reportsIn([choice, choice['delta'], choice['message']])
      const index = indexIn(choice) ?? place
      if (reports.length > 0)
        this.ofChoices.set(index, reports.reduce(greatest, this.ofChoices.get(index) ?? NO_REPORT))
      count += reports.length
    }
    return count > 0
  }

  /** The last tier that a response or event names is the one that was used. Earlier ones may be those of the request. */
  private takeResponse(value: JsonObject): void {
    const { type, item = null, response, message } = value
    const holders = [value, response, message].filter((one) => isJsonObject(one))
    const tier = holders.map(namedTierOf).find((named) => named !== undefined)
    if (tier !== undefined) this.serviceTier = tier
    if (type === 'response.output_item.done' && isSearch(item)) this.searches += 1
    this.searches = Math.max(this.searches, ...holders.map(({ output }) => searchesIn(output)))
  }

  /**
   * The usage by these reports. What they lack is estimated, the completion by its bytes.
   *
   * @param isFinal whether nothing more is to come
   */
  metered(contentBytes: number, isFinal = true): Metered {
    const { report } = this
    const { isOdd, ...figures } = report
    const { prompt_tokens, completion_tokens, hasHole } =
      this.reported === 'both' ? this.both(report, contentBytes) : this.ofPrompt(report)
    const total_tokens = prompt_tokens + completion_tokens
    const isAbsurd = isOdd || figures.reported_cost > mostCost(total_tokens)
    const reported_cost = figures.reported_cost > mostCost(total_tokens) ? 0 : figures.reported_cost
    return {
      metering: isFinal && !hasHole && !isAbsurd ? 'reported' : 'estimated',
      usage: {
        ...figures,
        prompt_tokens,
        completion_tokens,
        total_tokens,
        web_search_requests: Math.max(figures.web_search_requests, this.searches),
        reported_cost,
        ...(this.serviceTier ? { service_tier: this.serviceTier } : {}),
        ...(this.uncharged.size === 0 ? {} : { uncharged: this.uncharged }),
      },
    }
  }

  private both(
    { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total }: Report,
    bytes: number,
  ) {
    const prompt_tokens = prompt || Math.min(this.expected.promptTokens, total || Infinity)
    const completion_tokens = completion || Math.max(0, total - prompt_tokens) || tokensIn(bytes)
    const hasHole = prompt === 0 || completion === undefined || (completion === 0 && bytes > 0)
    return { prompt_tokens, completion_tokens, hasHole }
  }

  /** Some providers report only the total. */
  private ofPrompt({ prompt_tokens, total_tokens }: Report) {
    const reported = Math.max(prompt_tokens, total_tokens)
    const hasHole = this.reported === 'prompt' && reported === 0
    return { prompt_tokens: hasHole ? this.expected.promptTokens : reported, completion_tokens: 0, hasHole }
  }

  private noteUncharged(report: JsonObject): void {
    for (const [member, value] of unpricedIn(report))
      if (pricedKindOf(member, this.serviceTier ?? undefined) === undefined) this.uncharged.set(member, value)
  }

  private get report(): Report {
    const { whole } = this
    const parts = [...this.ofChoices.values()]
    return whole.completion_tokens
      ? parts.reduce(greatest, whole)
      : greatest(parts.reduce(ofBoth, NO_REPORT), whole)
  }

  private reportsIn(holders: readonly (Json | undefined)[]): readonly Report[] {
    return holders
      .filter((one) => isJsonObject(one))
      .flatMap((holder) => REPORTS.map((name) => holder[name]))
      .map((value) => {
        if (isJsonObject(value)) this.noteUncharged(value)
        return reportIn(value, this.expected.mostTokens)
      })
      .filter((report) => report !== null)
  }
}

/** Bytes that the model generated in a message or delta: texts, and names and arguments of tool calls. */
export const writtenBytes = (message: JsonObject): number => {
  let sum = 0
  for (const key in message) if (!NOT_GENERATED.has(key)) sum += bytesOf(message[key]!)
  return sum
}

const NOT_GENERATED = new Set(['role', 'id', 'type', 'index'])

const bytesOf = (value: Json): number => {
  if (typeof value === 'string') return utf8Bytes(value)
  if (Array.isArray(value)) return value.reduce<number>((sum, item: Json) => sum + bytesOf(item), 0)
  return isJsonObject(value) ? writtenBytes(value) : 0
}

/** The members of a report for what some prices charge apart, besides reads and writes of the cache. */
export const pricedParts = ({
  cache_creation_1h_input_tokens: hour,
  prompt_audio_tokens: promptAudio,
  completion_audio_tokens: completionAudio,
  web_search_requests,
  reported_cost,
  service_tier,
  uncharged = new Map<string, Json>(),
  ...others
}: Usage): JsonObject => {
  const parts: Record<string, Json> = {
    ...(service_tier === undefined ? {} : { service_tier }),
    ...(hour === 0 ? {} : { cache_creation: { ephemeral_1h_input_tokens: hour } }),
    ...(promptAudio === 0 ? {} : { prompt_tokens_details: { audio_tokens: promptAudio } }),
    ...(completionAudio === 0 ? {} : { completion_tokens_details: { audio_tokens: completionAudio } }),
    ...(web_search_requests === 0 ? {} : { server_tool_use: { web_search_requests } }),
    ...Object.fromEntries(
      EXTRA_UNITS.flatMap((unit) =>
        unit === 'web_search_requests' || others[unit] === 0 ? [] : [[unit, others[unit]]],
      ),
    ),
    ...(reported_cost === 0 ? {} : { cost: reported_cost / 1e9 }),
  }
  for (const [member, value] of uncharged) {
    const [name, part] = member.split('.') as [string, string?]
    const known = parts[name]
    parts[name] = part === undefined ? value : { ...(isJsonObject(known) ? known : {}), [part]: value }
  }
  return parts
}

/** The entry of `summary.usage`, under the public id of the model. */
export const summaryUsage = (model: string, usage: Usage | null): JsonObject => {
  if (usage === null) return {}
  const { prompt_tokens, completion_tokens, total_tokens } = usage
  const { cache_read_input_tokens, cache_creation_input_tokens } = usage
  const entry = {
    ...{ requests: 1, prompt_tokens, completion_tokens, total_tokens },
    ...{ cache_read_input_tokens, cache_creation_input_tokens },
    ...pricedParts(usage),
  }
  return { usage: { [model]: entry } }
}

/** The exact cost that budgets are charged. Undefined for unknown usage, and without a price or a reported cost. */
export const costText = (price: ModelPrice | null, usage: Usage | null): string | undefined =>
  usage === null || (price === null && usage.reported_cost === 0)
    ? undefined
    : decimalText(costOf(price, usage))
