/** The parts of a path that are tried without those before them. */
const MOST_PARTS = 4

/** Providers as libraries write them before a model. Mistral's is also a model of Ollama with tags: `mistral:7b`. */
const SCHEME = new RegExp(
  `^(?:${[
    'openai(?:-chat|-responses)?|azure(?:_openai|_ai|-openai)?|anthropic|google(?:_vertexai|_genai|-genai|-gla|-vertex)?',
    'google_anthropic_vertex|vertex(?:_ai|-ai|ai)?|gemini|bedrock(?:_converse)?|amazon_bedrock|aws',
    'cohere|fireworks(?:_ai)?|together(?:_ai|ai)?|huggingface|groq|ollama|deepseek|nvidia|xai|grok|openrouter|perplexity',
    'cerebras|moonshotai|github|vercel|litellm|ibm|watsonx|databricks|mistralai|mistral(?=:[a-z-]*tral)',
  ].join('|')}):`,
  'i',
)
/** What names a variant and no model: `70b`, `0`, `latest`. */
const TAG = /(?:^|\/)(?:v?\d+(?:\.\d+)*[a-z]?|latest|default)$/i

const REGION = /^(?:us|us-gov|eu|apac|jp|au|ca|sa|global)\./
const VENDOR = /^(?:anthropic|openai|meta|mistral|cohere|ai21|deepseek|qwen|google)\./
/** As `-v1:0` of Bedrock. */
const REVISION = /-v\d+:\d+k?(?::\w+)?$/
const SHORT_REVISION = /-v\d+$/
/** As `@20250514` of Vertex, `-2025-01-01`, `-20250514`, `-latest`, and `-001` of Gemini. */
const VERSION = /[-@](?:20\d{2}-\d{2}-\d{2}|20\d{6}|latest|default)$|@\d{3}$|(?<=^gemini-.*)-\d{3}$/
/** Ways in which OpenRouter serves a model at the model's own price. */
const VARIANT = /:(?:nitro|floor|exacto|beta|thinking|online|extended)$/
/** A fine-tuned model costs more than the model that it was made of. */
const FINE_TUNED = /^ft:/

/** The name of the price for models that OpenRouter serves for free, such as `gpt-4o:free`. */
export const FREE = ':free'

/**
 * The names under which a model's price is looked up, in order: its own, then with a provider's prefix, a version or a
 * date removed. The first name that has a price counts.
 */
export const priceNames = (model: string): readonly string[] => {
  const names = new Set([model])
  if (model.endsWith(FREE)) return [...names, FREE]
  if (FINE_TUNED.test(model)) return [model]
  for (const bare of [model, ...withoutPrefixes(model)])
    for (const spelled of spellings(bare)) if (spelled !== '' && !TAG.test(spelled)) names.add(spelled)
  return [...names]
}

const withoutPrefixes = (model: string): readonly string[] => {
  const parts = model.split('/')
  const ends = parts.map((_, index) => parts.slice(index).join('/')).slice(1)
  const paths = [model, ...ends.slice(-MOST_PARTS)]
  const name = parts.at(-1)!.replace(SCHEME, '')
  const plain = name.replace(REGION, '')
  const vendorless = plain.replace(VENDOR, '')
  return [
    ...paths,
    name,
    plain,
    ...(vendorless === plain ? [] : [vendorless, vendorless.replace(SHORT_REVISION, '')]),
  ]
}

/** The name, then without its variant, its revision and its version, in each of the ways that providers spell these. */
const spellings = (name: string): readonly string[] => {
  const base = name.replace(VARIANT, '')
  const revised = base.replace(REVISION, '')
  const found = [name, base, revised, revised.replace('@', '-'), revised.replace(VERSION, '')]
  return found.flatMap((one) => [one, ...otherSpelling(one)])
}

/** OpenRouter writes `claude-3.5-sonnet`, Azure `gpt-35-turbo`. */
const otherSpelling = (name: string): readonly string[] => {
  const lower = name.toLowerCase()
  const spelled = lower.startsWith('claude')
    ? lower.replaceAll(/(\d)\.(\d)/g, '$1-$2')
    : lower.replace(/^gpt-35-/, 'gpt-3.5-')
  return spelled === name ? [] : [spelled]
}
