import type { Extra } from '../../prices/variant.js'
import { EXTRA_UNITS, forEach, UNITS } from '../../prices/units.js'

/** A figure of a report, whatever its name is there. */
export type Figure =
  | 'requests'
  | 'promptTokens'
  | 'inputTokens'
  | 'prompt'
  | 'gross'
  | 'cacheMiss'
  | 'toolUse'
  | 'completionTokens'
  | 'outputTokens'
  | 'completion'
  | 'total'
  | 'read'
  | 'readWithin'
  | 'write'
  | 'writeWithin'
  | 'write5m'
  | 'write1h'
  | 'reasoning'
  | 'thoughts'
  | Extra
  | 'cost'
  | 'cacheHits'
  | 'savedTokens'
  | 'savedCost'

export type Names = ReadonlyMap<string, Figure | Names>

const camel = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** Every name in snake case and in camel case. */
const namesOf = (names: Readonly<Partial<Record<Figure, readonly string[]>>>): Map<string, Figure | Names> =>
  new Map(
    Object.entries(names).flatMap(([figure, all]) =>
      all.flatMap((name) => [name, camel(name)].map((one) => [one, figure as Figure] as const)),
    ),
  )

const withParts = (names: Map<string, Figure | Names>, parts: Readonly<Record<string, Names>>): Names => {
  for (const [name, within] of Object.entries(parts)) {
    names.set(name, within)
    names.set(camel(name), within)
  }
  return names
}

const BY_LIFETIME = namesOf({
  write5m: ['ephemeral_5m_input_tokens'],
  write1h: ['ephemeral_1h_input_tokens'],
})

const PROMPT_PARTS = withParts(
  namesOf({
    readWithin: ['cached_tokens', 'cache_read', 'cache_read_tokens'],
    writeWithin: ['cache_creation_tokens', 'cache_creation', 'cache_write_tokens', 'cache_write'],
    write5m: ['ephemeral_5m_input_tokens'],
    write1h: ['ephemeral_1h_input_tokens'],
    prompt_audio_tokens: ['audio_tokens', 'audio'],
  }),
  { cache_creation_token_details: BY_LIFETIME },
)

const COMPLETION_PARTS = namesOf({
  reasoning: ['reasoning_tokens', 'reasoning', 'thinking_tokens'],
  completion_audio_tokens: ['audio_tokens', 'audio'],
})

/** The names within a figure that is an object of its total and of parts. */
export const WITHIN: Readonly<Partial<Record<Figure, Names>>> = {
  inputTokens: new Map([...PROMPT_PARTS, ['total', 'inputTokens']]),
  outputTokens: new Map([...COMPLETION_PARTS, ['total', 'outputTokens']]),
}

/** The names of figures in reports, and those of objects with parts of them. docs/usage.md lists who uses them. */
export const NAMES = withParts(
  namesOf({
    requests: ['requests'],
    promptTokens: ['prompt_tokens'],
    inputTokens: ['input_tokens'],
    prompt: [
      'prompt_token_count',
      'input_token_count',
      'input_text_token_count',
      'prompt_eval_count',
      'tokens_prompt',
      'prompt',
      'input',
    ],
    gross: ['gross_input_tokens'],
    cacheMiss: ['prompt_cache_miss_tokens'],
    toolUse: ['tool_use_prompt_token_count'],
    completionTokens: ['completion_tokens'],
    outputTokens: ['output_tokens'],
    completion: [
      'candidates_token_count',
      'response_token_count',
      'output_token_count',
      'generation_token_count',
      'generated_token_count',
      'generated_tokens',
      'eval_count',
      'tokens_completion',
      'completion',
      'output',
    ],
    total: ['total_tokens', 'total_token_count', 'total'],
    read: ['cache_read_input_tokens', 'cache_read_input_token_count', 'cache_read_tokens'],
    readWithin: [
      'cached_tokens',
      'cached_input_tokens',
      'cached_prompt_tokens',
      'cached_content_token_count',
      'prompt_cache_hit_tokens',
      'cache_read.input_tokens',
      'prompt_details.cache_read',
    ],
    write: [
      'cache_creation_input_tokens',
      'cache_write_input_tokens',
      'cache_write_input_token_count',
      'cache_creation_tokens',
      'cache_write_tokens',
    ],
    writeWithin: ['cache_creation.input_tokens', 'cache_write.input_tokens', 'prompt_details.cache_write'],
    reasoning: [
      'reasoning_tokens',
      'reasoning_output_tokens',
      'reasoning.output_tokens',
      'completion_details.reasoning',
    ],
    thoughts: ['thoughts_token_count', 'thoughts_tokens'],
    ...forEach(EXTRA_UNITS, (unit) => UNITS[unit].reported),
    cost: ['cost', 'total_cost', 'response_cost', 'estimated_cost', 'cost_usd', 'costUSD', 'total_cost_usd'],
    cacheHits: ['cache_hits'],
    savedTokens: ['saved_tokens'],
    savedCost: ['saved_cost'],
  }),
  {
    prompt_tokens_details: PROMPT_PARTS,
    input_tokens_details: PROMPT_PARTS,
    input_token_details: PROMPT_PARTS,
    completion_tokens_details: COMPLETION_PARTS,
    output_tokens_details: COMPLETION_PARTS,
    output_token_details: COMPLETION_PARTS,
    candidates_tokens_details: COMPLETION_PARTS,
    cache_creation: BY_LIFETIME,
    server_tool_use: namesOf({ web_search_requests: ['web_search_requests'] }),
  },
)

/** What OpenTelemetry's attributes begin with. */
const PREFIX = /^(?:gen_ai\.usage|llm\.usage|llm\.token_count|ai\.usage)\.(?:details\.)?/

/** Objects in which some libraries wrap the figures, the one that is charged first. */
export const WRAPPERS = [
  'meta',
  'usage',
  'usage_metadata',
  'usageMetadata',
  'token_usage',
  'tokenUsage',
  'billed_units',
  'tokens',
]

/** Attributes count cached tokens in the input. */
const attributeNamed = (key: string, names: Names): Figure | Names | undefined => {
  const known = names.get(key.replace(PREFIX, ''))
  if (known === 'read') return 'readWithin'
  return known === 'write' ? 'writeWithin' : known
}

export const named = (key: string, names: Names): Figure | Names | undefined =>
  names.get(key) ?? (key.includes('.') ? attributeNamed(key, names) : undefined)
