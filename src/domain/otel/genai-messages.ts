import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

/** The messages of a chat completion as `gen_ai.input.messages` has them; undefined for other inputs. */
export const inputMessages = ({ messages }: JsonObject): readonly JsonObject[] | undefined => {
  const given = objectsIn(messages)
  return given.length > 0 && given.every(({ role }) => typeof role === 'string')
    ? given.map((message) => ({ role: message['role']!, parts: partsOf(message) }))
    : undefined
}

/** The choices of a chat completion, or a message, as `gen_ai.output.messages` has them; undefined for other outputs. */
export const outputMessages = (output: Json): readonly JsonObject[] | undefined => {
  if (!isJsonObject(output)) return undefined
  const choices = output['role'] === 'assistant' ? [{ message: output }] : objectsIn(output['choices'])
  const messages = choices.map(({ message, finish_reason: reason = 'stop' }: JsonObject) =>
    isJsonObject(message ?? null)
      ? { role: 'assistant', parts: partsOf(message as JsonObject), finish_reason: reason }
      : undefined,
  )
  return messages.length > 0 && !messages.includes(undefined) ? (messages as JsonObject[]) : undefined
}

const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : []

const partsOf = ({ content = null, tool_calls, tool_call_id: answered }: JsonObject): readonly Json[] => {
  if (answered !== undefined) return [{ type: 'tool_call_response', id: answered, result: content }]
  const given = Array.isArray(content) ? (content as readonly Json[]) : content === null ? [] : [content]
  return [...given.map(partOf), ...objectsIn(tool_calls).map(callOf)]
}

const partOf = (part: Json): Json => {
  if (typeof part === 'string') return { type: 'text', content: part }
  return isJsonObject(part) && part['type'] === 'text' && typeof part['text'] === 'string'
    ? { type: 'text', content: part['text'] }
    : part
}

const callOf = ({ id = null, function: called = null }: JsonObject): JsonObject => {
  const { name = null, arguments: given = null } = isJsonObject(called) ? called : {}
  return { type: 'tool_call', id, name, arguments: given }
}
