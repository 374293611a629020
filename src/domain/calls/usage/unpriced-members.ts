import { isJsonObject, type Json, type JsonObject } from '../../../kernel/json/json.js'
import { WRAPPERS } from './report-names.js'
import { EXTRA_UNITS, UNITS } from '../../prices/units.js'
import { SERVICE_TIERS, type Extra, type ServiceTier } from '../../prices/variant.js'

/** Prices are those of standard requests. */
const STANDARD: ReadonlyMap<string, readonly string[]> = new Map([
  ['service_tier', ['', 'standard', 'default', 'auto', 'on_demand', 'standard_only']],
  ['speed', ['', 'standard']],
  ['inference_geo', ['', 'global', 'not_available']],
])

/** Uses that providers charge besides tokens, by their names in reports. */
const USES: ReadonlyMap<string, Extra> = new Map(
  EXTRA_UNITS.flatMap((unit) => UNITS[unit].reported.map((name) => [name, unit])),
)

/** Searches and programs of the provider. Fetching pages costs only tokens. */
const isChargedTool = (name: string): boolean => name !== 'web_fetch_requests'
const isOtherLifetime = (name: string): boolean => !/^ephemeral_(?:5m|1h)_input_tokens$/.test(name)
const isSound = (name: string): boolean => /^audio(?:_tokens)?$/.test(name)
const isSoundOrPicture = (name: string): boolean => /^(?:audio|image)(?:_tokens)?$/.test(name)

/** Members of parts that have a price of their own, by the part. */
const PARTS: ReadonlyMap<string, (name: string) => boolean> = new Map(
  Object.entries({
    server_tool_use: isChargedTool,
    cache_creation: isOtherLifetime,
    prompt_tokens_details: isSound,
    input_tokens_details: isSound,
    input_token_details: isSound,
    completion_tokens_details: isSoundOrPicture,
    output_tokens_details: isSoundOrPicture,
    output_token_details: isSoundOrPicture,
    candidates_tokens_details: isSoundOrPicture,
    input_tokens: isSound,
    output_tokens: isSound,
  }),
)

export type PricedKind = 'service_tier' | Extra

/** What only some prices charge that such a member of usage in a tier of service reports. */
export const pricedKindOf = (member: string, tier: ServiceTier | undefined): PricedKind | undefined => {
  if (member === 'service_tier' || (member === 'speed' && tier === FAST)) return 'service_tier'
  const use = USES.get(member.replace(/^server_tool_use\./, ''))
  if (use !== undefined) return use
  if (!/\.audio(?:_tokens)?$/.test(member)) return undefined
  return /^(?:prompt|input)/.test(member) ? 'prompt_audio_tokens' : 'completion_audio_tokens'
}

/** The members of a report that change what it costs, and that not every price has. */
export const unpricedMembersOf = (entry: JsonObject): readonly string[] => [...unpricedIn(entry).keys()]

/** The same members, with their values. */
export const unpricedIn = (entry: JsonObject): ReadonlyMap<string, Json> => {
  const found = new Map<string, Json>()
  for (const report of [entry, ...WRAPPERS.map((name) => entry[name]).filter(isJsonObject)])
    for (const [key, value] of Object.entries(report)) {
      const name = snake(key)
      const isCharged = PARTS.get(name)
      if (typeof value === 'string' && STANDARD.get(name)?.includes(value.toLowerCase()) === false)
        found.set(name, value)
      else if (USES.has(name) && isSome(value)) found.set(name, value)
      else if (isCharged === undefined) continue
      else if (Array.isArray(value)) for (const audio of audioIn(value)) found.set(`${name}.audio`, audio)
      else if (isJsonObject(value))
        for (const [part, count] of Object.entries(value))
          if (isSome(count) && isCharged(snake(part))) found.set(`${name}.${snake(part)}`, count)
    }
  return found
}

/** The tier of service of a report, where prices may know it. */
export const serviceTierOf = (entry: JsonObject): ServiceTier | undefined => namedTierOf(entry) ?? undefined

/** Null for a tier that prices do not know, undefined where none is named. Anthropic's fast mode has a price like a tier. */
export const namedTierOf = (entry: JsonObject): ServiceTier | null | undefined => {
  const reports = [entry, ...WRAPPERS.map((name) => entry[name]).filter(isJsonObject)]
  const textIn = (...names: readonly string[]): string | undefined =>
    reports.flatMap((report) => names.map((name) => report[name])).find((value) => typeof value === 'string')
  const name = textIn('service_tier', 'serviceTier')?.toLowerCase()
  const known = SERVICE_TIERS.find((tier) => tier === name)
  if (known !== undefined || textIn('speed') === FAST) return known ?? FAST
  return name === undefined ? undefined : null
}

const FAST = 'fast' satisfies ServiceTier

/** Gemini lists tokens by their medium. */
export const audioIn = (details: Json): readonly Json[] =>
  (Array.isArray(details) ? (details as readonly Json[]) : []).flatMap((one) => {
    if (!isJsonObject(one) || one['modality'] !== 'AUDIO') return []
    const count = one['tokenCount'] ?? one['token_count'] ?? null
    return isSome(count) ? [count] : []
  })

const isSome = (value: Json): boolean => typeof value === 'number' && value > 0

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
