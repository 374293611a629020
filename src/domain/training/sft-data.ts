import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'

interface Message {
  readonly role: string
  readonly content: string
  /** 0 keeps a message of the assistant from being trained on. */
  readonly weight?: 0 | 1
}

export interface Conversation {
  readonly messages: readonly Message[]
}

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function'])

/** What is wrong with the role of a message; undefined if it is one of the API. */
export const roleProblem = (role: string): string | undefined =>
  ROLES.has(role)
    ? undefined
    : `the role ${JSON.stringify(role.slice(0, 64))} is none of ${[...ROLES].join(', ')}`

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
  const read: Message[] = []
  for (const [at, message] of (messages as readonly Json[]).entries()) {
    const found = messageIn(message)
    if (typeof found === 'string') return `messages.${at}: ${found}`
    read.push(found)
  }
  return read.some(({ role }) => role === 'assistant')
    ? { messages: read }
    : 'has no message of the role assistant'
}

const messageIn = (message: Json): Message | string => {
  if (!isJsonObject(message) || typeof message['role'] !== 'string') return 'it has no text `role`'
  const { role, weight = null } = message
  const problem = roleProblem(role)
  if (problem !== undefined) return problem
  const content = textOf(message)
  if (content === undefined) return 'its `content` is no text'
  if (weight !== null && weight !== 0 && weight !== 1) return 'its `weight` should be 0 or 1'
  if (weight === 1 && role !== 'assistant')
    return 'its `weight` is 1, but only messages of the role assistant are trained on'
  return { role: role, content, ...(weight === null ? {} : { weight }) }
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

/** Lines that are not blank, numbered from 1 as editors do. */
export const linesOf = (content: Uint8Array): readonly { readonly number: number; readonly text: string }[] =>
  new TextDecoder()
    .decode(content)
    .split('\n')
    .map((text, at) => ({ number: at + 1, text }))
    .filter(({ text }) => text.trim() !== '')
