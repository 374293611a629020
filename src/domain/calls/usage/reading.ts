import { isJsonObject, type Json, type JsonObject } from '../../../kernel/json/json.js'
import { costOf, countOf } from './figure.js'
import { audioIn, pricedKindOf, serviceTierOf, unpricedMembersOf } from './unpriced-members.js'
import { named, NAMES, WITHIN, WRAPPERS, type Figure, type Names } from './report-names.js'
import { forEach } from '../../prices/units.js'
import { EXTRAS, type Extra, type ServiceTier } from '../../prices/variant.js'

/** What a report means: the prompt includes tokens of the cache, the completion those of reasoning. */
export interface Reading {
  readonly requests: number
  /** Undefined if the report has no readable figure of it. */
  readonly prompt: number | undefined
  readonly completion: number | undefined
  /** 0 means that it is prompt plus completion. Not filled in here, so that sums of reports are read as their parts are. */
  readonly total: number
  readonly cacheRead: number
  /** Includes `cacheCreation1h`, the tokens that are kept for an hour. */
  readonly cacheCreation: number
  readonly cacheCreation1h: number
  /** Audio, of the tokens of the prompt and of the completion, and units. */
  readonly extras: Readonly<Record<Extra, number>>
  /** The cost that the provider reports, in units of 10^-9. */
  readonly cost: number
  /** Answers of the gateway's cache, and what these saved; the cost in units of 10^-12. */
  readonly cacheHits: number
  readonly savedTokens: number
  readonly savedCost: number
  /** A tier of service that prices may know. */
  readonly serviceTier: ServiceTier | undefined
  /** Whether some of the report was not understood, besides that tier and the extras. */
  readonly isUnrecognized: boolean
  /** Whether a known name has a value that is no count, or too large a one. */
  readonly isOdd: boolean
}

interface ReadingOptions {
  /** Whether `requests` and `input_tokens` are of the Python package weave, whose input includes the cache. */
  readonly includesCache?: boolean
  /** A greater number of tokens is no figure. */
  readonly most?: number
}

class Report {
  readonly figures: Partial<Record<Figure, number>> = {}
  /** A known name has a value that is no count. */
  isOdd = false
  hasUnknown = false
  /** A number of tokens has an unknown name. */
  hasUnknownTokens = false

  constructor(private readonly most: number) {}

  take(members: JsonObject, names: Names, isPart = false): void {
    for (const key in members) {
      const value = members[key]
      if (value === null || value === undefined) continue
      const known = named(key, names)
      if (known === undefined) {
        if (isPart) continue
        this.hasUnknown = true
        this.hasUnknownTokens ||= typeof value === 'number' && value > 0 && isOfTokens(key)
      } else if (typeof known !== 'string') {
        if (isJsonObject(value)) this.take(value, known, true)
        for (const audio of audioIn(value)) this.take({ audio }, known, true)
      } else if (isJsonObject(value) && WITHIN[known] !== undefined) this.take(value, WITHIN[known], true)
      else this.note(known, value)
    }
  }

  /** Names are synonyms, so the greatest figure counts. */
  private note(figure: Figure, value: Json): void {
    const parts = COST_PARTS[figure]
    // Providers charge a second that was begun.
    const whole = figure === 'seconds' && typeof value === 'number' ? Math.ceil(value) : value
    const count = parts === undefined ? countOf(whole) : costOf(value, parts)
    if (count === undefined || (parts === undefined && count > this.most)) this.isOdd = true
    else this.figures[figure] = Math.max(this.figures[figure] ?? 0, count)
  }

  get hasTokens(): boolean {
    const { figures } = this
    return TOKENS.some((figure) => figures[figure] !== undefined)
  }
}

/** How many units of a cost are one of its currency. */
const COST_PARTS: Readonly<Partial<Record<Figure, number>>> = { cost: 1e9, savedCost: 1e12 }

/** Tokens of one medium, and predicted ones, are parts of others. */
const isOfTokens = (name: string): boolean =>
  /token/i.test(name) && !/audio|text|image|video|predict/i.test(name)

const TOKENS = [
  'promptTokens',
  'inputTokens',
  'prompt',
  'gross',
  'cacheMiss',
  'completionTokens',
  'outputTokens',
  'completion',
  'total',
] as const satisfies readonly Figure[]

/** Reads what a provider or a library reports of one model. The rules are those of docs/usage.md. */
export const readingOf = (
  entry: JsonObject,
  { includesCache = false, most = Infinity }: ReadingOptions = {},
): Reading => {
  const report = new Report(most)
  report.take(entry, NAMES)
  if (!report.hasTokens)
    for (const name of WRAPPERS) {
      const wrapped = entry[name]
      if (!isJsonObject(wrapped)) continue
      report.hasUnknown = false
      report.hasUnknownTokens = false
      const inner = WRAPPERS.map((one) => wrapped[one]).find(isJsonObject)
      report.take(inner ?? wrapped, NAMES)
      break
    }
  addLifetimes(report.figures, entry['cacheDetails'])
  const { figures, isOdd, hasTokens, hasUnknown, hasUnknownTokens } = report
  const { prompt, completion, total } = tokensOf(figures, includesCache)
  const known = (prompt ?? 0) + (completion ?? 0)
  // Tokens of an unknown kind. Where the total is that of the known ones, the others are parts of these.
  const isHalf = total > known || (hasUnknownTokens && total !== known)
  const serviceTier = serviceTierOf(entry)
  const extras = forEach(EXTRAS, (extra) => figures[extra] ?? 0)
  const hasExtras = EXTRAS.some((extra) => extras[extra] > 0)
  const isUnpriced = (member: string) => {
    const kind = pricedKindOf(member, serviceTier)
    return kind === undefined || !(kind === 'service_tier' ? serviceTier : extras[kind])
  }
  return {
    requests: figures.requests ?? 0,
    prompt,
    completion,
    total,
    cacheRead: readsOf(figures),
    cacheCreation: writesOf(figures),
    cacheCreation1h: figures.write1h ?? 0,
    extras,
    cost: figures.cost ?? 0,
    cacheHits: figures.cacheHits ?? 0,
    savedTokens: figures.savedTokens ?? 0,
    savedCost: figures.savedCost ?? 0,
    serviceTier,
    isUnrecognized:
      isOdd ||
      isHalf ||
      (!hasTokens && !hasExtras && hasUnknown) ||
      unpricedMembersOf(entry).some(isUnpriced),
    isOdd,
  }
}

type Figures = Partial<Record<Figure, number>>

/** Bedrock lists cache writes by their lifetime. */
const addLifetimes = (figures: Figures, details: Json | undefined): void => {
  if (!Array.isArray(details)) return
  for (const detail of details as readonly Json[])
    if (isJsonObject(detail) && detail['ttl'] === '1h')
      figures.write1h = (figures.write1h ?? 0) + (countOf(detail['inputTokens'] ?? null) ?? 0)
}

const readsOf = ({ read = 0, readWithin = 0 }: Figures): number => Math.max(read, readWithin)
const writesOf = ({ write = 0, writeWithin = 0, write5m = 0, write1h = 0 }: Figures): number =>
  Math.max(write, writeWithin, write5m + write1h)

const tokensOf = (
  figures: Figures,
  includesCache: boolean,
): Pick<Reading, 'prompt' | 'completion' | 'total'> => {
  const { total: reported = 0, thoughts = 0, reasoning = 0, toolUse = 0, gross } = figures
  const names = bothNames(figures)
  const cached = readsOf(figures) + writesOf(figures)
  let prompt = gross ?? withCache(names.prompt ?? 0, names.completion ?? 0, figures, includesCache)
  let completion = names.completion ?? 0
  const isWhole = () => reported === prompt + completion
  if (!isWhole()) {
    completion += thoughts
    prompt += toolUse
  }
  if (reasoning > completion || (!isWhole() && reported === prompt + completion + reasoning))
    completion += reasoning
  const isExtended = prompt + completion > (names.prompt ?? 0) + (names.completion ?? 0)
  return withoutHole({
    prompt: names.prompt === undefined && gross === undefined && cached === 0 ? undefined : prompt,
    completion: names.completion === undefined && completion === 0 ? undefined : completion,
    total: isExtended && reported < prompt + completion ? 0 : reported,
  })
}

/** Where prompt or completion is absent, it is what the total leaves. */
const withoutHole = (tokens: Pick<Reading, 'prompt' | 'completion' | 'total'>): typeof tokens => {
  const { prompt, completion, total } = tokens
  if (prompt === undefined && completion !== undefined && total > completion)
    return { ...tokens, prompt: total - completion }
  return completion === undefined && prompt !== undefined && total >= prompt
    ? { ...tokens, completion: total - prompt }
    : tokens
}

interface Tokens {
  readonly prompt: number | undefined
  readonly completion: number | undefined
}

/**
 * A report with `prompt_tokens` and `input_tokens` has two names of one figure, or an SDK added up reports with different
 * names. The total decides. Without a total, two figures are one if they are equal or differ by exactly the cached
 * tokens or the reasoning, which only one of them includes.
 */
const bothNames = (figures: Figures): Tokens => {
  const { promptTokens, inputTokens, completionTokens, outputTokens, reasoning = 0, total = 0 } = figures
  const { prompt, cacheMiss, completion } = figures
  const other = prompt ?? (cacheMiss === undefined ? undefined : cacheMiss + readsOf(figures))
  const one = {
    prompt: most(promptTokens, inputTokens) ?? other,
    completion: most(completionTokens, outputTokens) ?? completion,
  }
  const isTwice = areBoth(promptTokens, inputTokens) || areBoth(completionTokens, outputTokens)
  if (!isTwice) return one
  const sums = {
    prompt: plus(promptTokens, inputTokens) ?? other,
    completion: plus(completionTokens, outputTokens) ?? completion,
  }
  const cached = readsOf(figures) + writesOf(figures)
  const isTotalOf = (tokens: Tokens): boolean => {
    const beyond = total - (tokens.prompt ?? 0) - (tokens.completion ?? 0)
    return beyond === 0 || (beyond > 0 && (beyond === reasoning || beyond === cached))
  }
  if (total > 0 && isTotalOf(one)) return one
  if (total > 0 && isTotalOf(sums)) return sums
  return isSame(promptTokens, inputTokens, cached) && isSame(completionTokens, outputTokens, reasoning)
    ? one
    : sums
}

const areBoth = (a = 0, b = 0): boolean => a > 0 && b > 0
const most = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)
const plus = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : a + b
const isSame = (a: number | undefined, b: number | undefined, difference: number): boolean =>
  !areBoth(a, b) || a === b || Math.abs(a! - b!) === difference

/** The input with the tokens of the cache, which some reports exclude from it. */
const withCache = (input: number, completion: number, figures: Figures, includesCache: boolean): number => {
  const { total = 0, reasoning = 0, thoughts = 0, toolUse = 0, promptTokens } = figures
  const [reads, writes] = [readsOf(figures), writesOf(figures)]
  const cached = reads + writes
  const isTotalOf = (prompt: number): boolean =>
    [0, reasoning, thoughts + toolUse].includes(total - prompt - completion)
  if (cached > input) {
    // Some proxies that speak the chat format leave out only the writes.
    const isWithoutWrites = promptTokens !== undefined && reads <= input && !isTotalOf(input + cached)
    return input + (isWithoutWrites ? writes : cached)
  }
  if (total > 0 && isTotalOf(input)) return input
  if (total > 0 && isTotalOf(input + cached)) return input + cached
  return isExclusive(figures, includesCache) ? input + cached : input
}

/**
 * Anthropic and Bedrock exclude the cache from the input, and the npm package weave passes that on with `requests` added.
 * The Python package uses the same names for an input that includes the cache, and always reports `status_counts` too.
 * Details of the input are parts of it.
 */
const isExclusive = (
  { promptTokens, requests, readWithin, writeWithin }: Figures,
  includesCache: boolean,
): boolean =>
  promptTokens === undefined &&
  readWithin === undefined &&
  writeWithin === undefined &&
  !(requests !== undefined && includesCache)
