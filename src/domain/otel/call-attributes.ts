import { withDigitsOf } from '../../kernel/json/digits.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import {
  decoded,
  firstOf,
  listOf,
  objectOf,
  textIn,
  textOf,
  textOfField,
  under,
  valueIn,
  type SpanView,
} from './attributes.js'
import { ADK_CONTAINERS, ELSEWHERE, KINDS, NAMES, OBJECTS, PREFIXES, type Kind } from './conventions.js'
import type { Resource, Scope } from './span.js'
import { nanosecondsOf } from './time.js'

/** What a span did; undefined for spans of other parts of a program. */
export const kindOf = (view: SpanView, scope: Scope, isOfModel: boolean): Kind | undefined => {
  const { attributes, fields, span } = view
  const named = fields.has('kind')
    ? firstOf(NAMES.kind, (name) => KINDS.get((textOf(attributes[name]) ?? '').toLowerCase()))
    : undefined
  if (named !== undefined) return named
  if (textOfField(view, 'tool') !== undefined) return 'tool'
  const isContainer = scope.name === 'gcp.vertex.agent' && ADK_CONTAINERS.has(span.name)
  if (isContainer || textOfField(view, 'agent') !== undefined) return 'agent'
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
  const found: Record<string, Json> = {}
  const add = (name: string, value: Json | undefined) => {
    if (value !== undefined) found[name] = value
  }
  add('kind', already.kind)
  add('model', already.model)
  add('provider', providerOf(view))
  add('operation', textOfField(view, 'operation'))
  add('agent', textOfField(view, 'agent'))
  add('tool', textOfField(view, 'tool'))
  add('user', textOfField(view, 'user'))
  add('session', already.session)
  add('model_parameters', members(view, OBJECTS.parameters, PREFIXES.parameters))
  add('metadata', members(view, OBJECTS.metadata, PREFIXES.metadata))
  add('evaluation', members(view, [], PREFIXES.evaluation))
  add('time_to_first_token_ms', timeToFirstToken(view))
  const own = objectOf(view.attributes['wandb.attributes'])
  const others = own ?? (Object.keys(found).length === 0 ? view.attributes : undefined)
  add('tags', tagsOf(view))
  for (const field of ['environment', 'release'] as const)
    add(field, textOfField(view, field) ?? textIn(resource.attributes, NAMES[field]))
  return others === undefined ? found : { ...withoutWeave(others), ...found }
}

/** `attributes.weave` of a call says which SDK wrote it, and so how its usage is counted. */
const withoutWeave = (attributes: JsonObject): JsonObject => {
  const { weave: _, 'weave.source': __, ...others } = attributes
  return withDigitsOf(attributes, others)
}

/** LangSmith names itself where the provider is unknown; the AI SDK adds the API, as in `openai.chat`. */
const providerOf = ({ attributes, fields }: SpanView): string | undefined =>
  fields.has('provider')
    ? firstOf(NAMES.provider, (name) => {
        const provider = textOf(attributes[name])
        return provider === 'langchain' ? undefined : provider?.replace(API, '')
      })
    : undefined

const API = /\.(?:chat|responses|completion|embedding|messages)$/

/** A list, or one text with commas. */
const tagsOf = ({ attributes, fields }: SpanView): readonly string[] | undefined =>
  fields.has('tags')
    ? firstOf(NAMES.tags, (name) => {
        const value = decoded(attributes[name] ?? null)
        const tags = typeof value === 'string' ? value.split(',').map((tag) => tag.trim()) : listOf(value)
        const texts = tags.map(textOf).filter((tag) => tag !== undefined)
        return texts.length === 0 ? undefined : texts
      })
    : undefined

/** The members of objects and of prefixes, of each name the first. */
const members = (
  view: SpanView,
  objects: readonly string[],
  prefixes: readonly string[],
): JsonObject | undefined => {
  const found = new Map<string, Json>()
  const add = (name: string, value: Json) => {
    if (!found.has(name) && !ELSEWHERE.has(name)) found.set(name, value)
  }
  for (const name of objects)
    for (const [member, value] of Object.entries(objectOf(valueIn(view.attributes, name)) ?? {}))
      add(member, value)
  for (const prefix of prefixes)
    for (const [member, value] of under(view, prefix)) add(member, decoded(value))
  return found.size === 0 ? undefined : Object.fromEntries(found)
}

/** In seconds, in milliseconds, or as an instant. */
const timeToFirstToken = ({ attributes, span }: SpanView): number | undefined => {
  const seconds = firstOf(IN_SECONDS, (name) => numberOf(attributes[name]))
  const milliseconds = numberOf(attributes['ai.response.msToFirstChunk'])
  const given = seconds === undefined ? milliseconds : seconds * 1000
  if (given !== undefined) return given
  const time = nanosecondsOf(textOf(attributes['langfuse.observation.completion_start_time']) ?? '')
  const at = time ?? span.events.find(({ name }) => name === 'First Token Stream Event')?.time
  return at === undefined || at < span.start || span.start === 0n ? undefined : Number(at - span.start) / 1e6
}

const IN_SECONDS = ['gen_ai.response.time_to_first_chunk', 'gen_ai.client.operation.time_to_first_chunk']

const numberOf = (value: Json | undefined): number | undefined => {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
}
