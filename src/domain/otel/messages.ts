import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { decoded, firstOf, listOf, objectOf, textOf } from './attributes.js'

/** What the parts of one message come to. */
interface Body {
  readonly content: Json[]
  readonly reasoning: string[]
  readonly calls: JsonObject[]
  /** Results of tools, each a message of its own. */
  readonly results: JsonObject[]
}

const ROLES: ReadonlyMap<string, string> = new Map([
  ...['system', 'developer', 'user', 'assistant', 'tool', 'function'].map((role) => [role, role] as const),
  ['human', 'user'],
  ['ai', 'assistant'],
  ['AIMessageChunk', 'assistant'],
  ['model', 'assistant'],
])

/** The message itself, where events, choices or a library wrap it. */
const unwrapped = (value: Json, levels = 3): Json => {
  if (!isJsonObject(value) || levels === 0) return value
  const wrapped =
    value['lc'] === undefined ? (value['message'] ?? value['gen_ai.event.content']) : value['kwargs']
  const inner = objectOf(wrapped)
  return inner === undefined ? value : unwrapped(inner, levels - 1)
}

const roleOf = (message: JsonObject): string | undefined => {
  const { role, type, 'event.name': event } = message
  const named = /^gen_ai\.(\w+)\.message$/.exec(typeof event === 'string' ? event : '')?.[1]
  const given = [role, type, named].find((name) => typeof name === 'string' && ROLES.has(name))
  return ROLES.get(given as string)
}

export const isMessage = (value: Json): boolean => {
  const message = unwrapped(value)
  return isJsonObject(message) && roleOf(message) !== undefined && CONTENTS.some((name) => name in message)
}

const CONTENTS = ['content', 'contents', 'parts', 'tool_calls', 'reasoning_content', 'function_call']

/** A value as messages of chat completions. Results of tools in one message become several. */
export const messagesOf = (value: Json, fallbackRole: string): readonly JsonObject[] => {
  const message = unwrapped(decoded(value))
  if (!isJsonObject(message)) return [{ role: fallbackRole, content: contentOf([message]) }]
  const role = roleOf(message) ?? fallbackRole
  const { content, parts, contents, reasoning_content, tool_calls, name } = message
  const body: Body = { content: [], reasoning: [], calls: [], results: [] }
  for (const part of partsIn(parts ?? contents ?? content ?? null)) addPart(body, part)
  if (typeof reasoning_content === 'string') body.reasoning.push(reasoning_content)
  body.calls.push(...listOf(tool_calls).map(toolCallOf))
  const answered = role === 'tool' ? (message['tool_call_id'] ?? message['id']) : undefined
  const own = {
    role,
    content: contentOf(body.content),
    ...(body.reasoning.length > 0 && { reasoning_content: body.reasoning.join('\n') }),
    ...(body.calls.length > 0 && { tool_calls: body.calls }),
    ...(answered !== undefined && { tool_call_id: answered }),
    ...(typeof name === 'string' && { name }),
  }
  const isOnlyResults = body.results.length > 0 && own.content === null && body.calls.length === 0
  if (isOnlyResults) return body.results
  return role === 'assistant' ? [own, ...body.results] : [...body.results, own]
}

/** Only a list can hold parts; indexed attributes may have them under `message_content`. */
const partsIn = (content: Json): readonly Json[] =>
  Array.isArray(content) ? (content as readonly Json[]) : content === null ? [] : [content]

/** A single text alone; null if there is nothing. */
const contentOf = (parts: readonly Json[]): Json => {
  if (parts.length === 0) return null
  const [first] = parts
  if (parts.length === 1 && !isJsonObject(first)) return first!
  return parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part))
}

const addPart = (body: Body, given: Json): void => {
  const inner = isJsonObject(given) ? (given['message_content'] ?? given) : given
  if (!isJsonObject(inner)) body.content.push(inner)
  else {
    const { type } = inner
    const kind = typeof type === 'string' ? type : UNTYPED.find((name) => name in inner)
    const add = inner['thought'] === true ? addReasoning : PARTS.get(kind ?? '')
    if (add?.(body, inner) !== true) body.content.push(inner)
  }
}

/** Adds a part. False if the part has no such content, so that it is kept as it is. */
type AddPart = (body: Body, part: JsonObject) => boolean

const addText: AddPart = ({ content }, part) => {
  const text = part['text'] ?? part['content']
  if (typeof text !== 'string') return false
  content.push(text)
  return true
}

const addReasoning: AddPart = ({ reasoning }, part) => {
  const text = firstOf(['content', 'text', 'reasoning', 'thinking'], (name) => textOf(part[name]))
  if (text !== undefined) reasoning.push(text)
  return text !== undefined
}

const addCall: AddPart = ({ calls }, part) => calls.push(toolCallOf(part)) > 0

const addResult: AddPart = ({ results }, part) => {
  const { id, toolCallId, result, response, output } = part
  // The AI SDK says in the output what it is, `{ type: 'text', value }`.
  const value = result ?? response ?? (isJsonObject(output) && 'value' in output ? output['value'] : output)
  const answered = toolCallId ?? id ?? part['name']
  results.push({
    role: 'tool',
    ...(answered !== undefined && { tool_call_id: answered }),
    content: value === undefined ? null : textFor(value),
  })
  return true
}

const addMedia: AddPart = ({ content }, part) => {
  const { modality, type, uri, file_uri: fileUri } = part
  const mime = textOf(part['mime_type'] ?? part['mimeType'] ?? part['mediaType'])
  if (modality !== 'image' && type !== 'image' && mime?.startsWith('image/') !== true) return false
  const image = part['image'] ?? part['data'] ?? part['content'] ?? uri ?? fileUri
  const url = isJsonObject(image) ? objectOf(image['image'] ?? null)?.['url'] : image
  if (typeof url !== 'string') return false
  const isData = !/^(?:data|https?|gs|file|s3):/.test(url)
  content.push({
    type: 'image_url',
    image_url: { url: isData ? `data:${mime ?? 'image/png'};base64,${url}` : url },
  })
  return true
}

/** What Gemini names by a member, not by a type. */
const inMember =
  (name: string, add: AddPart): AddPart =>
  (body, part) => {
    const inner = part[name]
    return isJsonObject(inner) && add(body, inner)
  }

/** Parts of Gemini have one of these members in place of a type. */
const UNTYPED = [
  ...['text', 'function_call', 'functionCall', 'function_response', 'functionResponse'],
  ...['inline_data', 'inlineData', 'file_data', 'fileData'],
]

/** By the type: of GenAI, of the AI SDK with hyphens, of OpenInference, and the members of Gemini. */
const PARTS: ReadonlyMap<string, AddPart> = new Map([
  ['text', addText],
  ['reasoning', addReasoning],
  ['tool_call', addCall],
  ['tool-call', addCall],
  ['tool_call_response', addResult],
  ['tool-result', addResult],
  ...['blob', 'uri', 'file', 'image'].map((type) => [type, addMedia] as const),
  ['function_call', inMember('function_call', addCall)],
  ['functionCall', inMember('functionCall', addCall)],
  ['function_response', inMember('function_response', addResult)],
  ['functionResponse', inMember('functionResponse', addResult)],
  ['inline_data', inMember('inline_data', addMedia)],
  ['inlineData', inMember('inlineData', addMedia)],
  ['file_data', inMember('file_data', addMedia)],
  ['fileData', inMember('fileData', addMedia)],
])

const textFor = (value: Json): string => (typeof value === 'string' ? value : jsonText(value))

/** A call of a tool as chat completions write it, the arguments as JSON text. */
const toolCallOf = (given: Json): JsonObject => {
  const call = isJsonObject(given) ? (objectOf(given['tool_call'] ?? null) ?? given) : {}
  const of = objectOf(call['function'] ?? null) ?? call
  const name = of['name'] ?? of['toolName']
  const input = of['arguments'] ?? of['args'] ?? of['input']
  return {
    id: call['id'] ?? call['toolCallId'] ?? call['tool_call_id'] ?? null,
    type: 'function',
    function: { name: name ?? null, arguments: input === undefined ? '' : textFor(input) },
  }
}

/** A tool that is offered to a model as chat completions write it; what is not understood is kept. */
export const toolOf = (given: Json): Json => {
  const value = decoded(given)
  const tool = isJsonObject(value) ? (objectOf(value['tool'] ?? null) ?? value) : undefined
  if (tool === undefined) return value
  if (tool['json_schema'] !== undefined) return toolOf(tool['json_schema'])
  const { name, description } = tool
  if (typeof name !== 'string') return tool
  const parameters = firstOf(SCHEMAS, (member) => tool[member])
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && { parameters: decoded(parameters) }),
    },
  }
}

const SCHEMAS = ['parameters', 'inputSchema', 'input_schema', 'parameters_json_schema']

/** The message of an answer. Several choices stay apart, and so do messages that are not all of the model. */
export const answerOf = (choices: readonly Json[]): Json => {
  const answers = choices.map((choice) => ({
    messages: messagesOf(choice, 'assistant'),
    reason: isJsonObject(choice) ? choice['finish_reason'] : undefined,
  }))
  const messages = answers.flatMap((answer) => answer.messages)
  if (messages.length <= 1) return messages[0] ?? null
  if (messages.some(({ role }) => role !== 'assistant')) return { messages }
  return {
    choices: answers.map(({ messages: [message], reason }) => ({
      message: message!,
      ...(reason !== undefined && { finish_reason: reason }),
    })),
  }
}
