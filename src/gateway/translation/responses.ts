import type { Json, JsonObject } from '../../kernel/json/json.js'
import {
  ChatRequest,
  defined,
  filePart,
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
import { responsesAnswer } from './responses-answer.js'
import { calledNameOf, chosenTools } from './responses-tools.js'
import type { Translation } from './translation.js'

const FIELDS = {
  translated: words(
    'model input instructions tools tool_choice parallel_tool_calls text reasoning max_output_tokens stream ' +
      'temperature top_p user safety_identifier include',
  ),
  // Without them the answer is the same.
  ignored: words(
    'metadata store prompt_cache_key prompt_cache_retention prompt_cache_options client_metadata stream_options ' +
      'max_tool_calls',
  ),
  refused: words('n top_logprobs'),
}

/** What these refer to is at the provider. Without it, the model would answer another question. */
const STORED = ['previous_response_id', 'conversation', 'prompt', 'background']

const request: Translation['request'] = (given, { mayDrop }) => {
  const chat = new ChatRequest(mayDrop)
  for (const key of STORED) if (given[key]) throw chat.refusal([key], key)
  chat.checkFields(given, FIELDS)
  checkIncluded(chat, given['include'])
  const { instructions, input, max_output_tokens: most, user, safety_identifier, tool_choice } = given
  if (typeof instructions === 'string') chat.add('system', [textPart(instructions)])
  else addItems(chat, instructions ?? [], ['instructions'])
  if (typeof input === 'string') chat.add('user', [textPart(input)])
  else addItems(chat, input, ['input'])
  const { tools, choice } = chosenTools(chat, given['tools'], tool_choice)
  const parallel_tool_calls = given['parallel_tool_calls'] === false ? false : undefined
  const reasoning = optional(given['reasoning'], ['reasoning'], objectAt)
  return chat.finish(
    given,
    { tools, tool_choice: choice, parallel_tool_calls },
    {
      ...defined({
        max_completion_tokens: optional(most, ['max_output_tokens'], lengthAt),
        reasoning_effort: optional(reasoning?.['effort'], ['reasoning', 'effort'], textAt),
        user: userOf(user) ?? userOf(safety_identifier),
      }),
      ...formatOf(chat, given['text']),
    },
  )
}

const checkIncluded = (chat: ChatRequest, include: Json | undefined): void => {
  for (const [index, name] of (optional(include, ['include'], listAt) ?? []).entries())
    if (typeof name === 'string' && name.endsWith('logprobs')) chat.refuse(['include', index], 'This')
}

const addItems = (chat: ChatRequest, items: Json | undefined, at: Place): void => {
  for (const [index, item] of objectsAt(items, at).entries()) addItem(chat, item, [...at, index])
}

const addItem = (chat: ChatRequest, item: JsonObject, at: Place): void => {
  const member = (key: string): string => textAt(item[key], [...at, key])
  switch (item['type'] ?? 'message') {
    case 'message':
      addMessage(chat, item, at)
      break
    case 'function_call':
      chat.addCall(member('call_id'), calledNameOf(item, at), member('arguments'))
      break
    case 'custom_tool_call':
      chat.addCall(member('call_id'), calledNameOf(item, at), JSON.stringify({ input: member('input') }))
      break
    case 'function_call_output':
    case 'custom_tool_call_output':
      chat.addResult(member('call_id'), contentParts(chat, item['output'], [...at, 'output']))
      break
    case 'reasoning':
      chat.drop(at)
      break
    case 'item_reference':
      throw chat.refusal(at, 'A stored item')
    default:
      chat.refuse(at, 'An item of this type')
  }
}

/** Many upstreams do not know the role `developer`. */
const ROLES = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
] as const)

const addMessage = (chat: ChatRequest, { role, content }: JsonObject, at: Place): void => {
  const known = (ROLES as ReadonlyMap<unknown, 'user' | 'assistant' | 'system'>).get(role)
  if (known === undefined) throw literalError([...at, 'role'], [...ROLES.keys()])
  chat.add(known, contentParts(chat, content, [...at, 'content']))
}

const contentParts = (chat: ChatRequest, content: Json | undefined, at: Place): readonly JsonObject[] => {
  if (typeof content === 'string') return content === '' ? [] : [textPart(content)]
  return objectsAt(content, at).flatMap((part, index) => partsOf(chat, part, [...at, index]))
}

const partsOf = (chat: ChatRequest, part: JsonObject, at: Place): readonly JsonObject[] => {
  const { type, image_url, detail, file_data, filename } = part
  switch (textAt(type, [...at, 'type'])) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return [textPart(textAt(part['text'], [...at, 'text']))]
    case 'refusal':
      return [textPart(textAt(part['refusal'], [...at, 'refusal']))]
    case 'input_image':
      if (typeof image_url === 'string')
        return [imagePart(image_url, typeof detail === 'string' ? { detail } : {})]
      break
    case 'input_file':
      if (typeof file_data === 'string') return [filePart(file_data, filename)]
  }
  chat.refuse(at, 'A part of this type')
  return []
}

const formatOf = (chat: ChatRequest, given: Json | undefined): JsonObject => {
  const { format: givenFormat, verbosity } = optional(given, ['text'], objectAt) ?? {}
  const at = ['text', 'format']
  const format = optional(givenFormat, at, objectAt) ?? { type: 'text' }
  const { type, name, schema, strict, description } = format
  if (type === 'json_schema')
    return defined({
      verbosity: verbosity ?? undefined,
      response_format: jsonSchemaFormat(
        defined({
          name: textAt(name, [...at, 'name']),
          schema: objectAt(schema, [...at, 'schema']),
          strict: strict ?? undefined,
          description: description ?? undefined,
        }),
      ),
    })
  if (type !== 'text' && type !== 'json_object') chat.refuse(at, 'A format of this type')
  return defined({
    verbosity: verbosity ?? undefined,
    response_format: type === 'json_object' ? { type } : undefined,
  })
}

/** OpenAI's newer API. */
export const responses: Translation = { request, answer: responsesAnswer }
