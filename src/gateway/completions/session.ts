import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { id } from '../../kernel/ids.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { utf8Header } from './request-context.js'

export interface Session {
  /** The thread of the call. */
  readonly threadId?: string
  /** Requests with the same key probably begin with the same prompt, so the same upstream has it in its cache. */
  readonly affinityKey?: string
}

/** Providers do not cache a shorter prompt. */
const MIN_CACHED_TOKENS = 1024

/** The session that the client names, and the key by which its requests go to the same upstream. Ids that are invalid are ignored. */
export const sessionOf = (headers: IncomingHttpHeaders, given: JsonObject, promptTokens: number): Session => {
  const client = isJsonObject(given['client_metadata']) ? given['client_metadata'] : {}
  const codexSession = firstId(utf8Header(headers, 'session-id'), client['session_id'])
  const otherSession = firstId(
    utf8Header(headers, 'x-claude-code-session-id'),
    utf8Header(headers, 'x-litellm-session-id'),
  )
  // A subagent of Codex has a thread of its own within the session.
  const thread = firstId(utf8Header(headers, 'thread-id'), client['thread_id'], codexSession, otherSession)
  const key =
    firstId(given['prompt_cache_key'], codexSession, otherSession, thread) ??
    (promptTokens >= MIN_CACHED_TOKENS ? beginningDigest(given) : undefined)
  return {
    ...(thread === undefined ? {} : { threadId: thread }),
    ...(key === undefined ? {} : { affinityKey: key }),
  }
}

const firstId = (...found: readonly (Json | undefined)[]): string | undefined => found.find(id.is)

/** Longer texts and lists are compared by their beginning. */
const MAX_CHARACTERS = 16_384
const MAX_ITEMS = 16

/** A digest of the model, the system prompt and the first message of the user, which stay the same for a whole conversation. */
const beginningDigest = (given: JsonObject): string | undefined => {
  const messages = given['messages'] ?? given['input']
  const list = typeof messages === 'string' ? [{ role: 'user', content: messages }] : itemsOf(messages)
  const first = list.findIndex((message) => isJsonObject(message) && message['role'] === 'user')
  if (first < 0) return undefined
  const hash = createHash('sha256')
  const beginning = [given['model'], given['system'], given['instructions'], ...list.slice(0, first + 1)]
  for (const part of beginning) hash.update(JSON.stringify(textOf(part)))
  return hash.digest('base64url')
}

const itemsOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]).slice(0, MAX_ITEMS) : []

/** The text alone: a client moves the marks of the cache from message to message. */
const textOf = (value: Json | undefined): string => {
  if (typeof value === 'string') return value.slice(0, MAX_CHARACTERS)
  const content = isJsonObject(value) ? (value['content'] ?? value['text']) : undefined
  if (typeof content === 'string') return content.slice(0, MAX_CHARACTERS)
  const parts = itemsOf(content ?? value).map((part) => (isJsonObject(part) ? part['text'] : part))
  return parts.map((text) => (typeof text === 'string' ? text.slice(0, MAX_CHARACTERS) : '')).join('\n')
}
