import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText, memberText } from '../../kernel/json/text.js'

/**
 * One line of text that shows what a call got or returned: the last message of a conversation, or as `first input` the first
 * one of the user, a single value, or the members of an object. `text` is JSON, which may be cut off.
 */
export const preview = (
  text: string,
  side: 'input' | 'first input' | 'output',
  characters: number,
): string => {
  const value = parsed(text)
  return oneLine(value === undefined ? text : contentIn(text, value, side), characters)
}

/** The message that `preview` shows, with its lines; null if the JSON is cut off. */
export const message = (text: string, side: 'input' | 'output', characters: number): string | null => {
  const value = parsed(text)
  if (value === undefined) return text === '' ? '' : null
  const content = contentIn(text, value, side).replace(BASE64, '[base64]').trim()
  return content.length <= characters ? content : `${cut(content, characters)}…`
}

const contentIn = (text: string, value: Json, side: 'input' | 'first input' | 'output'): string =>
  typeof value === 'number' ? text : side === 'output' ? ofOutput(value) : ofInputs(value, side)

const parsed = (text: string): Json | undefined => {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

const ofInputs = (value: Json, side: 'input' | 'first input'): string => {
  if (!isJsonObject(value)) return plain(value)
  const messages = listOf(value['messages'] ?? value['input'])
  const ofUser = messages.filter((message) => message['role'] === 'user')
  const question = ofUser.at(side === 'input' ? -1 : 0) ?? messages.at(-1)
  if (question !== undefined) return contentOf(question)
  const asked = 'model' in value ? (value['input'] ?? value['prompt']) : undefined
  return asked === undefined ? members(value) : plain(asked)
}

const ofOutput = (value: Json): string => {
  if (!isJsonObject(value)) return plain(value)
  const answer = listOf(value['messages']).findLast((message) => message['role'] === 'assistant')
  if (answer !== undefined) return contentOf(answer)
  const choice = listOf(value['choices'])[0]
  const message = choice?.['message'] ?? (value['role'] === undefined ? undefined : value)
  if (isJsonObject(message)) return contentOf(message)
  if (choice?.['text'] !== undefined) return plain(choice['text'])
  const items = listOf(value['output']).filter(({ type }) => type !== 'reasoning')
  if (items.length > 0) return items.map(contentOf).filter(Boolean).join(' ')
  return members(value)
}

/** The text of a message of chat completions, of the Responses API or of Anthropic's, and the names of its tool calls. */
const contentOf = (message: JsonObject): string => {
  const { content, tool_calls, name, type } = message
  const parts = typeof content === 'string' ? [content] : listOf(content).map(partText)
  for (const call of listOf(tool_calls)) {
    const called = isJsonObject(call['function']) ? call['function'] : call
    parts.push(`${plain(called['name'])}(${plain(called['arguments'])})`)
  }
  if (parts.length === 0 && typeof type === 'string' && type.endsWith('_call'))
    parts.push(
      `${plain(name ?? type)}(${plain(message['arguments'] ?? message['input'] ?? message['action'])})`,
    )
  const text = parts.filter(Boolean).join(' ')
  return text === '' && parts.length === 0 ? members(message) : text
}

const partText = (part: JsonObject): string => {
  const { text, type, name, input } = part
  if (typeof text === 'string') return text
  if (type === 'tool_use' || type === 'server_tool_use') return `${plain(name)}(${plain(input)})`
  if (type === 'tool_result') {
    const parts = listOf(part['content'])
    return parts.length > 0 ? parts.map(partText).join(' ') : plain(part['content'])
  }
  if (type === 'thinking' || type === 'redacted_thinking') return ''
  if (type === 'refusal') return plain(part['refusal'])
  return typeof type === 'string' ? `[${type}]` : ''
}

/** A single value alone, several as `name: value`. The program's own object says nothing about the call. */
const members = (value: JsonObject): string => {
  const names = Object.keys(value).filter((name) => name !== 'self')
  const textOf = (name: string) => (typeof value[name] === 'string' ? value[name] : memberText(value, name))
  return names.length === 1 ? textOf(names[0]!) : names.map((name) => `${name}: ${textOf(name)}`).join(', ')
}

const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : []

const plain = (value: Json | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : jsonText(value)

/** Base64 shows nothing to a reader. */
const BASE64 = /\b(data:[\w/+.-]+;base64,)?[A-Za-z0-9+/]{200,}={0,2}/g

const oneLine = (text: string, characters: number): string => {
  const line = text
    .slice(0, 20 * characters)
    .replace(BASE64, '[base64]')
    .replace(/\s+/g, ' ')
    .trim()
  return line.length <= characters ? line : `${cut(line, characters)}…`
}

const cut = (text: string, characters: number): string =>
  text
    .slice(0, characters)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd()
