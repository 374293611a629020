import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import {
  decoded,
  decodedIn,
  firstOf,
  indexed,
  listOf,
  objectOf,
  parsed,
  textOf,
  valueIn,
  viewOf,
  type SpanView,
} from './attributes.js'
import type { Kind } from './conventions.js'
import { answerOf, isMessage, messagesOf, toolOf } from './messages.js'

/** A value, or the name of the attribute that holds it, perhaps as JSON. */
type Source = string | ((view: SpanView) => Json | undefined)

const read = (view: SpanView, source: Source): Json | undefined =>
  typeof source === 'string' ? decodedIn(view.attributes, source) : source(view)

/** Messages that were flattened into attributes. Inputs of embeddings have no role. */
const indexedIn =
  (prefix: string, role: string): Source =>
  (view) =>
    indexed(view, prefix)?.map((one) => (isJsonObject(one) ? { role, ...one } : one))

/** JSON whatever it begins with. */
const json =
  (name: string, { except = [] }: { readonly except?: readonly string[] } = {}): Source =>
  ({ attributes }) => {
    const value = valueIn(attributes, name)
    if (typeof value !== 'string') return value
    return except.includes(value) ? undefined : parsed(value)
  }

/** A list of JSON texts. */
const jsonList =
  (name: string): Source =>
  ({ attributes }) => {
    const value = valueIn(attributes, name)
    return Array.isArray(value) ? (value as readonly Json[]).map(decoded) : value
  }

/** OpenInference has the whole request or answer, and its messages flattened, which count where the former is no such. */
const openInference =
  (side: 'input' | 'output', messagesIn: (value: Json) => unknown): Source =>
  (view) => {
    const given = valueIn(view.attributes, `${side}.value`)
    const isText = view.attributes[`${side}.mime_type`] === 'text/plain'
    const value = given === undefined || isText ? given : decoded(given)
    return value !== undefined && messagesIn(value) !== undefined
      ? value
      : (indexed(view, `llm.${side}_messages.`) ?? value)
  }

/** A source with the system's instructions, which are apart, as the first message. */
const withInstructions =
  (source: Source): Source =>
  (view) => {
    const value = read(view, source)
    const parts = decodedIn(view.attributes, 'gen_ai.system_instructions')
    if (!Array.isArray(value) || parts === undefined) return value
    return [{ role: 'system', parts: Array.isArray(parts) ? parts : [parts] }, ...(value as readonly Json[])]
  }

/** The same convention in the attributes of an event. */
const inEvent =
  (name: string, source: Source): Source =>
  ({ span }) =>
    firstOf(span.events, ({ name: given, attributes }) =>
      given === name ? read(viewOf(span, attributes), source) : undefined,
    )

const DETAILS = 'gen_ai.client.inference.operation.details'

/** Messages of a conversation by the older events, which are a list of JSON objects with some libraries. */
const ofEvents = (value: Json, isAnswer: boolean): Json | undefined => {
  const events = listOf(value).filter((event) => {
    const name = isJsonObject(event) ? event['event.name'] : undefined
    return isAnswer ? name === 'gen_ai.choice' : name !== 'gen_ai.choice'
  })
  return events.length === 0 ? undefined : events
}

const MESSAGE_EVENT = /^gen_ai\.(?:(?:system|user|assistant|tool)\.message|choice)$/

const messageEvents =
  (isAnswer: boolean): Source =>
  ({ span }) =>
    ofEvents(
      span.events
        .filter(({ name }) => MESSAGE_EVENT.test(name))
        .map(({ name, attributes }) => ({ ...attributes, 'event.name': name })),
      isAnswer,
    )

const eventsIn =
  (name: string, isAnswer: boolean): Source =>
  ({ attributes }) =>
    ofEvents(attributes[name] ?? null, isAnswer)

/** `{ system, prompt }` or `{ system, messages }`. */
const aiPrompt: Source = ({ attributes }) => {
  const value = decodedIn(attributes, 'ai.prompt')
  if (!isJsonObject(value)) return value
  const { system, prompt, messages } = value
  const given = messages ?? prompt
  if (given === undefined) return value
  const asked = Array.isArray(given) ? (given as readonly Json[]) : [{ role: 'user', content: given }]
  return system === undefined || system === null ? asked : [{ role: 'system', content: system }, ...asked]
}

const aiResponse: Source = ({ attributes }) => {
  const text = valueIn(attributes, 'ai.response.text') ?? valueIn(attributes, 'ai.response.object')
  const reasoning = textOf(attributes['ai.response.reasoning'])
  const calls = listOf(attributes['ai.response.toolCalls'])
  if (calls.length === 0 && reasoning === undefined) return text ?? undefined
  return {
    role: 'assistant',
    content: text ?? null,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    tool_calls: calls,
  }
}

/** All messages of a run; the last of the model is its answer. */
const allMessages =
  (name: string, isAnswer: boolean): Source =>
  ({ attributes }) => {
    const all = listOf(attributes[name])
    const last = all.at(-1)
    const isAnswered = isJsonObject(last) && last['role'] === 'assistant'
    if (isAnswer) return isAnswered ? last : undefined
    return all.length === 0 ? undefined : isAnswered ? all.slice(0, -1) : all
  }

const documents: Source = (view) =>
  indexed(view, 'retrieval.documents.')?.map((one) => (isJsonObject(one) ? (one['document'] ?? one) : one))

const INPUTS: readonly Source[] = [
  'langfuse.observation.input',
  withInstructions('gen_ai.input.messages'),
  'gen_ai.tool.call.arguments',
  'gen_ai.retrieval.query.text',
  openInference('input', (value) => conversationIn(value)),
  'ai.prompt.messages',
  aiPrompt,
  json('ai.toolCall.args'),
  jsonList('ai.values'),
  json('ai.value'),
  inEvent(DETAILS, withInstructions('gen_ai.input.messages')),
  messageEvents(false),
  indexedIn('gen_ai.prompt.', 'user'),
  'gen_ai.prompt',
  inEvent('gen_ai.content.prompt', 'gen_ai.prompt'),
  'traceloop.entity.input',
  json('mlflow.spanInputs'),
  json('gcp.vertex.agent.llm_request', { except: ['{}', 'N/A'] }),
  json('gcp.vertex.agent.tool_call_args', { except: ['{}', 'N/A'] }),
  withInstructions(allMessages('pydantic_ai.all_messages', false)),
  allMessages('all_messages_events', false),
  eventsIn('events', false),
  'tool_arguments',
  'request_data',
  ...['tool_input', 'new_context', 'user_prompt', 'input', 'inputs', 'prompt'],
]

const OUTPUTS: readonly Source[] = [
  'langfuse.observation.output',
  'gen_ai.output.messages',
  'gen_ai.tool.call.result',
  openInference('output', (value) => choicesIn(value)),
  documents,
  aiResponse,
  json('ai.toolCall.result'),
  jsonList('ai.embeddings'),
  json('ai.embedding'),
  inEvent(DETAILS, 'gen_ai.output.messages'),
  messageEvents(true),
  indexedIn('gen_ai.completion.', 'assistant'),
  'gen_ai.completion',
  inEvent('gen_ai.content.completion', 'gen_ai.completion'),
  'traceloop.entity.output',
  json('mlflow.spanOutputs'),
  json('gcp.vertex.agent.llm_response', { except: ['{}', 'N/A'] }),
  json('gcp.vertex.agent.tool_response', { except: ['{}', 'N/A'] }),
  'final_result',
  allMessages('pydantic_ai.all_messages', true),
  allMessages('all_messages_events', true),
  eventsIn('events', true),
  'tool_response',
  ...['response.model_output', 'output', 'outputs'],
]

const functionTools: Source = ({ attributes }) =>
  objectOf(attributes['model_request_parameters'])?.['function_tools']

const TOOLS: readonly Source[] = [
  'gen_ai.tool.definitions',
  (view) => indexed(view, 'llm.tools.'),
  'ai.prompt.tools',
  inEvent(DETAILS, 'gen_ai.tool.definitions'),
  (view) => indexed(view, 'llm.request.functions.'),
  functionTools,
]

/** A list of messages, or an object with one. */
interface Conversation {
  readonly messages: readonly Json[]
  readonly tools?: readonly Json[]
  /** Other members of a request. */
  readonly rest?: JsonObject
}

const isConversation = (list: readonly Json[]): boolean => list.length > 0 && list.every(isMessage)

/** LangChain has a list for each prompt. */
const flat = (value: Json | undefined): readonly Json[] => {
  const list = Array.isArray(value) ? (value as readonly Json[]) : []
  return list.length === 1 && Array.isArray(list[0]) ? (list[0] as readonly Json[]) : list
}

const conversationIn = (value: Json): Conversation | undefined => {
  const list = flat(isJsonObject(value) ? value['messages'] : value)
  if (isConversation(list)) {
    if (!isJsonObject(value)) return { messages: list }
    const { messages: _, tools, ...rest } = value
    return { messages: list, rest, ...(Array.isArray(tools) && { tools: tools as readonly Json[] }) }
  }
  return isJsonObject(value) ? geminiRequestIn(value) : undefined
}

const geminiRequestIn = ({ contents, config }: JsonObject): Conversation | undefined => {
  const list = listOf(contents)
  if (!isConversation(list)) return undefined
  const { system_instruction: system, tools } = objectOf(config) ?? {}
  const declared = listOf(tools).flatMap((tool) => listOf(objectOf(tool)?.['function_declarations']))
  return {
    messages: system === undefined ? list : [{ role: 'system', content: system }, ...list],
    ...(declared.length > 0 && { tools: declared }),
  }
}

/** The inputs of a call: a conversation as chat completions write it, an object as it is, or another value under `input`. */
export const inputsOf = (view: SpanView, kind: Kind | undefined): JsonObject => {
  const value = firstOf(INPUTS, (source) => read(view, source))
  if (value === undefined) return {}
  const conversation = kind === 'tool' ? undefined : conversationIn(value)
  if (conversation === undefined) return isJsonObject(value) ? value : { input: value }
  const { messages, rest, tools = toolsOf(view) } = conversation
  return {
    ...rest,
    messages: messages.flatMap((message) => messagesOf(message, 'user')),
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
  }
}

const toolsOf = (view: SpanView): readonly Json[] =>
  listOf(firstOf(TOOLS, (source) => read(view, source)) ?? null)

/** The choices of a model's answer. */
const choicesIn = (value: Json): readonly Json[] | undefined => {
  if (isMessage(value)) return [value]
  if (!isJsonObject(value)) {
    const list = flat(value)
    return isConversation(list) ? list : undefined
  }
  const { choices, candidates, content, generations } = value
  const given = [choices, candidates, flat(generations)].map(listOf).find((list) => list.length > 0)
  if (given !== undefined) {
    const inner = given.map((choice) => geminiMessage(choice) ?? choice)
    return isConversation(inner) ? inner : undefined
  }
  const message = content === undefined ? undefined : geminiMessage(value)
  return message === undefined ? undefined : [message]
}

const geminiMessage = (choice: Json): Json | undefined => {
  const content = isJsonObject(choice) ? choice['content'] : undefined
  return isJsonObject(content) && Array.isArray(content['parts'])
    ? { role: 'assistant', parts: content['parts'] as readonly Json[] }
    : undefined
}

/** What a call returned: for a model its message, for others the value. Null if there is none. */
export const outputOf = (view: SpanView, kind: Kind | undefined): Json => {
  const value = firstOf(OUTPUTS, (source) => read(view, source))
  if (value === undefined) return null
  const choices = kind === 'tool' ? undefined : choicesIn(value)
  if (choices !== undefined) return answerOf(choices)
  const isWrapped = isJsonObject(value) && 'output' in value && Object.keys(value).length === 1
  const output = isWrapped ? value['output']! : value
  return kind === 'model' && typeof output === 'string' ? { role: 'assistant', content: output } : output
}
