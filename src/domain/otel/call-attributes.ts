import { microseconds, parseInstant } from '../../kernel/codec/instant.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import {
  decoded,
  firstOf,
  listOf,
  objectOf,
  textIn,
  textOf,
  under,
  valueIn,
  type SpanView,
} from './attributes.js'
import { ADK_CONTAINERS, ELSEWHERE, KINDS, NAMES, OBJECTS, PREFIXES, type Kind } from './conventions.js'
import type { Resource, Scope } from './span.js'

/** What a span did; undefined for spans of other parts of a program. */
export const kindOf = (view: SpanView, scope: Scope, isOfModel: boolean): Kind | undefined => {
  const { attributes, span } = view
  const named = firstOf(NAMES.kind, (name) => KINDS.get((textOf(attributes[name]) ?? '').toLowerCase()))
  if (named !== undefined) return named
  if (textIn(attributes, NAMES.tool) !== undefined) return 'tool'
  const isContainer = scope.name === 'gcp.vertex.agent' && ADK_CONTAINERS.has(span.name)
  if (isContainer || textIn(attributes, NAMES.agent) !== undefined) return 'agent'
  return isOfModel || MESSAGES.some((name) => attributes[name] !== undefined) ? 'model' : undefined
}

const MESSAGES = ['gen_ai.input.messages', 'gen_ai.prompt.0.content', 'llm.input_messages.0.message.content']

interface ReadAlready {
  readonly kind: Kind | undefined
  readonly model: string | undefined
  readonly session: string | undefined
}

/** Attributes of a call: what is known, else all attributes of the span. */
export const attributesOf = (view: SpanView, resource: Resource, already: ReadAlready): JsonObject => {
  const { attributes } = view
  const ofSpan = defined({
    ...already,
    provider: providerOf(attributes),
    operation: textIn(attributes, NAMES.operation),
    agent: textIn(attributes, NAMES.agent),
    tool: textIn(attributes, NAMES.tool),
    user: textIn(attributes, NAMES.user),
    model_parameters: members(view, OBJECTS.parameters, PREFIXES.parameters),
    tags: tagsOf(attributes),
    metadata: members(view, OBJECTS.metadata, PREFIXES.metadata),
    evaluation: members(view, [], PREFIXES.evaluation),
    time_to_first_token_ms: timeToFirstToken(view),
    ...withoutWeave(objectOf(attributes['wandb.attributes']) ?? {}),
  })
  const ofProcess = defined({
    environment: textIn(attributes, NAMES.environment) ?? textIn(resource.attributes, NAMES.environment),
    release: textIn(attributes, NAMES.release) ?? textIn(resource.attributes, NAMES.release),
  })
  const isRecognized = Object.keys(ofSpan).some((name) => name !== 'tags')
  return { ...(isRecognized ? undefined : withoutWeave(attributes)), ...ofSpan, ...ofProcess }
}

const defined = (members: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(members).filter((member): member is [string, Json] => member[1] !== undefined),
  )

/** `attributes.weave` of a call says which SDK wrote it, and so how its usage is counted. */
const withoutWeave = (attributes: JsonObject): JsonObject => {
  const { weave: _, 'weave.source': __, ...others } = attributes
  return withDigitsOf(attributes, others)
}

/** LangSmith names itself where the provider is unknown; the AI SDK adds the API, as in `openai.chat`. */
const providerOf = (attributes: JsonObject): string | undefined =>
  firstOf(NAMES.provider, (name) => {
    const provider = textOf(attributes[name])
    return provider === 'langchain' ? undefined : provider?.replace(API, '')
  })

const API = /\.(?:chat|responses|completion|embedding|messages)$/

/** A list, or one text with commas. */
const tagsOf = (attributes: JsonObject): readonly string[] | undefined =>
  firstOf(NAMES.tags, (name) => {
    const value = decoded(attributes[name] ?? null)
    const tags = typeof value === 'string' ? value.split(',').map((tag) => tag.trim()) : listOf(value)
    const texts = tags.map(textOf).filter((tag) => tag !== undefined)
    return texts.length === 0 ? undefined : texts
  })

/** The members of objects and of prefixes, of each name the first. */
const members = (
  view: SpanView,
  objects: readonly string[],
  prefixes: readonly string[],
): JsonObject | undefined => {
  const found: (readonly [string, Json])[] = []
  for (const name of objects) found.push(...Object.entries(objectOf(valueIn(view.attributes, name)) ?? {}))
  for (const prefix of prefixes)
    for (const [name, value] of under(view, prefix)) found.push([name, decoded(value)])
  const kept = found.filter(([name]) => !ELSEWHERE.has(name)).reverse()
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** In seconds, in milliseconds, or as an instant. */
const timeToFirstToken = ({ attributes, span }: SpanView): number | undefined => {
  const seconds = firstOf(IN_SECONDS, (name) => numberOf(attributes[name]))
  const milliseconds = numberOf(attributes['ai.response.msToFirstChunk'])
  const given = seconds === undefined ? milliseconds : seconds * 1000
  if (given !== undefined) return given
  const instant = parseInstant(textOf(attributes['langfuse.observation.completion_start_time']) ?? '')
  const event = span.events.find(({ name }) => name === 'First Token Stream Event')
  const at = instant === undefined ? event?.time : microseconds(instant) * 1000n
  return at === undefined || at < span.start || span.start === 0n ? undefined : Number(at - span.start) / 1e6
}

const IN_SECONDS = ['gen_ai.response.time_to_first_chunk', 'gen_ai.client.operation.time_to_first_chunk']

const numberOf = (value: Json | undefined): number | undefined => {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
}
