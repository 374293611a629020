import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'

export interface Conversation {
  readonly messages: readonly { readonly role: string; readonly content: string }[]
}

/** An artifact that has training data, by a version name or an alias. */
export interface DataAddress {
  readonly project: string
  readonly collection: string
  readonly version: string
}

const ADDRESS = /^wandb-artifact:\/{2,3}([^/]+)\/([^/]+)\/([^/:]+)(?::([^/:]+))?$/

/** `wandb-artifact:///entity/project/name:version`, with two or three slashes; undefined for any other text. */
export const dataAddressIn = (url: string): DataAddress | undefined => {
  const [, entity, project, collection, version = 'latest'] = ADDRESS.exec(url) ?? []
  if (entity === undefined || project === undefined || collection === undefined) return undefined
  return { project: `${entity}/${project}`, collection, version }
}

/** A line of training data, or what is wrong with it. */
export const conversationIn = (line: string): Conversation | string => {
  let value: Json
  try {
    value = parseJson(line)
  } catch {
    return 'is not JSON'
  }
  const messages = isJsonObject(value) ? value['messages'] : undefined
  if (!Array.isArray(messages) || messages.length === 0) return 'has no list `messages`'
  const read: { role: string; content: string }[] = []
  for (const [at, message] of (messages as readonly Json[]).entries()) {
    if (!isJsonObject(message) || typeof message['role'] !== 'string')
      return `messages.${at} has no text \`role\``
    const content = textOf(message)
    if (content === undefined) return `messages.${at} has a \`content\` that is no text`
    read.push({ role: message['role'], content })
  }
  return read.some(({ role }) => role === 'assistant')
    ? { messages: read }
    : 'has no message of the role assistant'
}

/** The text of a message; its tool calls as JSON. */
export const textOf = ({ content, tool_calls }: JsonObject): string | undefined => {
  const calls = Array.isArray(tool_calls) && tool_calls.length > 0 ? JSON.stringify(tool_calls) : ''
  if (content === null || content === undefined) return calls
  if (typeof content === 'string') return content + calls
  if (!Array.isArray(content)) return undefined
  const parts = (content as readonly Json[]).map((part) =>
    isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : undefined,
  )
  return parts.every((part) => part !== undefined) ? parts.join('') + calls : undefined
}

export const linesOf = (content: Uint8Array): readonly string[] =>
  new TextDecoder()
    .decode(content)
    .split('\n')
    .filter((line) => line.trim() !== '')
