import { invalidField } from '../../application/failure.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import {
  ChatRequest,
  defined,
  filePart,
  functionChoice,
  functionTool,
  imagePart,
  jsonSchemaFormat,
  lengthAt,
  listAt,
  literalError,
  objectAt,
  objectsAt,
  optional,
  textAt,
  textPart,
  userOf,
  words,
  type Place,
} from './chat-request.js'
import { messagesAnswer } from './messages-answer.js'
import type { Translation } from './translation.js'

const FIELDS = {
  translated: words(
    'model messages system max_tokens tools tool_choice stop_sequences stream temperature top_p thinking output_config ' +
      'output_format metadata',
  ),
  ignored: words('cache_control betas'),
  refused: words('top_k container mcp_servers'),
}

const request: Translation['request'] = (given, { mayDrop }) => {
  const chat = new ChatRequest(mayDrop)
  chat.checkFields(given, FIELDS)
  chat.add('system', systemParts(chat, given['system'], ['system']))
  const messages = objectsAt(given['messages'], ['messages'])
  if (messages.length === 0) throw invalidField(['messages'], 'too_short', 'List should have at least 1 item')
  for (const [index, message] of messages.entries()) addMessage(chat, message, ['messages', index])
  const { metadata } = given
  const stop = optional(given['stop_sequences'], ['stop_sequences'], listAt)?.map((text, index) =>
    textAt(text, ['stop_sequences', index]),
  )
  return chat.finish(given, toolsOf(chat, given), {
    max_completion_tokens: lengthAt(given['max_tokens'], ['max_tokens']),
    ...defined({
      stop: stop?.length === 0 ? undefined : stop,
      reasoning_effort: effortOf(given),
      response_format: formatOf(chat, given),
      user: isJsonObject(metadata) ? userOf(metadata['user_id']) : undefined,
    }),
  })
}

/** Claude Code's first block. It differs from call to call, so that the upstream could not cache the prompt. */
const ATTRIBUTION = 'x-anthropic-billing-header:'

const systemParts = (chat: ChatRequest, system: Json | undefined, at: Place): readonly JsonObject[] => {
  if (typeof system === 'string') return system === '' ? [] : [textPart(system)]
  return (optional(system, at, objectsAt) ?? []).flatMap((block, index) => {
    const place = [...at, index]
    const { type, text } = block
    if (type !== 'text' || typeof text !== 'string' || !text.startsWith(ATTRIBUTION))
      return partsOf(chat, block, place)
    chat.drop(place)
    return []
  })
}

const addMessage = (chat: ChatRequest, { role, content }: JsonObject, at: Place): void => {
  const place = [...at, 'content']
  if (role === 'system') chat.add('system', systemParts(chat, content, place))
  else if (role !== 'user' && role !== 'assistant')
    throw invalidField([...at, 'role'], 'literal_error', "Input should be 'user' or 'assistant' or 'system'")
  else if (typeof content === 'string') chat.add(role, content === '' ? [] : [textPart(content)])
  else {
    const add = role === 'user' ? addUserBlock : addAssistantBlock
    const parts = objectsAt(content, place).flatMap((block, index) => add(chat, block, [...place, index]))
    chat.add(role, parts)
  }
}

/** Results of tools are added at once, before the rest of the message. */
const addUserBlock = (chat: ChatRequest, block: JsonObject, at: Place): readonly JsonObject[] => {
  if (block['type'] !== 'tool_result') return partsOf(chat, block, at)
  const parts = contentParts(chat, block['content'] ?? '', [...at, 'content'])
  const isError = block['is_error'] === true
  chat.addResult(
    textAt(block['tool_use_id'], [...at, 'tool_use_id']),
    isError ? [textPart('Error:'), ...parts] : parts,
  )
  return []
}

const addAssistantBlock = (chat: ChatRequest, block: JsonObject, at: Place): readonly JsonObject[] => {
  const { type } = block
  if (type === 'thinking' || type === 'redacted_thinking') chat.drop(at)
  else if (type === 'tool_use')
    chat.addCall(
      textAt(block['id'], [...at, 'id']),
      textAt(block['name'], [...at, 'name']),
      jsonText(objectAt(block['input'], [...at, 'input'])),
    )
  else return partsOf(chat, block, at)
  return []
}

const contentParts = (chat: ChatRequest, content: Json | undefined, at: Place): readonly JsonObject[] => {
  if (typeof content === 'string') return content === '' ? [] : [textPart(content)]
  return objectsAt(content, at).flatMap((block, index) => partsOf(chat, block, [...at, index]))
}

const partsOf = (chat: ChatRequest, block: JsonObject, at: Place): readonly JsonObject[] => {
  switch (textAt(block['type'], [...at, 'type'])) {
    case 'text': {
      const text = textAt(block['text'], [...at, 'text'])
      return text === '' ? [] : [textPart(text)]
    }
    case 'image':
      return imageParts(chat, objectAt(block['source'], [...at, 'source']), [...at, 'source'])
    case 'document':
      return documentParts(chat, block, at)
    case 'search_result':
      return [
        ...['title', 'source'].map((key) => textPart(textAt(block[key], [...at, key]))),
        ...contentParts(chat, block['content'], [...at, 'content']),
      ]
    default:
      chat.refuse(at, 'A block of this type')
      return []
  }
}

const imageParts = (chat: ChatRequest, source: JsonObject, at: Place): readonly JsonObject[] => {
  if (source['type'] === 'url') return [imagePart(textAt(source['url'], [...at, 'url']))]
  if (source['type'] === 'base64') return [imagePart(dataUrl(source, at))]
  chat.refuse(at, 'A source of this type')
  return []
}

const documentParts = (chat: ChatRequest, block: JsonObject, at: Place): readonly JsonObject[] => {
  const [source, place] = [objectAt(block['source'], [...at, 'source']), [...at, 'source']]
  const { citations, title, context } = block
  if (isJsonObject(citations) && citations['enabled'] === true)
    chat.refuse([...at, 'citations'], 'A citation')
  const [titles, notes] = [title, context].map((text) => (typeof text === 'string' ? [textPart(text)] : []))
  switch (textAt(source['type'], [...place, 'type'])) {
    case 'base64':
      return [...notes!, filePart(dataUrl(source, place), title)]
    case 'text':
      return [...titles!, ...notes!, textPart(textAt(source['data'], [...place, 'data']))]
    case 'content':
      return [...titles!, ...notes!, ...contentParts(chat, source['content'], [...place, 'content'])]
    default:
      chat.refuse(place, 'A source of this type')
      return []
  }
}

const dataUrl = ({ media_type, data }: JsonObject, at: Place): string =>
  `data:${textAt(media_type, [...at, 'media_type'])};base64,${textAt(data, [...at, 'data'])}`

const toolsOf = (chat: ChatRequest, given: JsonObject) => {
  const tools = (optional(given['tools'], ['tools'], objectsAt) ?? []).flatMap((tool, index) => {
    const at = ['tools', index]
    if ((tool['type'] ?? 'custom') !== 'custom') {
      chat.refuse(at, 'A tool that the provider runs or defines')
      return []
    }
    const name = textAt(tool['name'], [...at, 'name'])
    const parameters = objectAt(tool['input_schema'], [...at, 'input_schema'])
    const { description, strict } = tool
    return [functionTool({ name, description, parameters, strict })]
  })
  const choice = optional(given['tool_choice'], ['tool_choice'], objectAt) ?? {}
  return {
    tools,
    tool_choice: choiceOf(choice),
    parallel_tool_calls: choice['disable_parallel_tool_use'] === true ? false : undefined,
  }
}

const CHOICES: ReadonlyMap<Json | undefined, string> = new Map([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
])

const choiceOf = ({ type, name }: JsonObject): Json | undefined => {
  if (type === undefined) return undefined
  if (type === 'tool') return functionChoice(textAt(name, ['tool_choice', 'name']))
  const choice = CHOICES.get(type)
  if (choice !== undefined) return choice
  throw literalError(['tool_choice', 'type'], ['auto', 'any', 'tool', 'none'])
}

/** In tokens of thinking. */
const LOW_BUDGET = 4096
const MEDIUM_BUDGET = 16_384

const effortOf = (given: JsonObject): string | undefined => {
  const thinking = optional(given['thinking'], ['thinking'], objectAt) ?? {}
  const config = optional(given['output_config'], ['output_config'], objectAt) ?? {}
  if (thinking['type'] === 'disabled') return undefined
  const effort = optional(config['effort'], ['output_config', 'effort'], textAt)
  // Chat completions know no greater effort at most upstreams.
  if (effort !== undefined) return effort === 'xhigh' || effort === 'max' ? 'high' : effort
  const { budget_tokens: budget } = thinking
  if (typeof budget !== 'number') return undefined
  if (budget <= LOW_BUDGET) return 'low'
  return budget <= MEDIUM_BUDGET ? 'medium' : 'high'
}

const formatOf = (
  chat: ChatRequest,
  { output_config, output_format }: JsonObject,
): JsonObject | undefined => {
  const config = isJsonObject(output_config) ? output_config : {}
  for (const key of Object.keys(config))
    if (key !== 'effort' && key !== 'format') chat.drop(['output_config', key])
  const at = output_format ? ['output_format'] : ['output_config', 'format']
  const format = optional(output_format ?? config['format'], at, objectAt)
  if (format === undefined) return undefined
  if (format['type'] !== 'json_schema') {
    chat.refuse(at, 'A format of this type')
    return undefined
  }
  return jsonSchemaFormat({
    name: 'answer',
    schema: objectAt(format['schema'], [...at, 'schema']),
    strict: true,
  })
}

/** Anthropic's API. */
export const messages: Translation = { request, answer: messagesAnswer }
