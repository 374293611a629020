import { createHash } from 'node:crypto'
import { invalidField } from '../../application/failure.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import type { TranslatedRequest } from './translation.js'

/** Where a value is in the request. */
export type Place = readonly (string | number)[]

type Maybe = Json | undefined

const isAbsent = (value: Maybe): value is null | undefined => value === undefined || value === null

const reader =
  <A extends Json>(is: (value: Json) => value is A, type: string, noun: string) =>
  (value: Maybe, at: Place): A => {
    if (isAbsent(value)) throw invalidField(at, 'missing', 'Field required')
    if (!is(value)) throw invalidField(at, type, `Input should be a valid ${noun}`)
    return value
  }

/** These read a value. They throw a Failure `invalid` that names its place if it has another type. */
export const textAt = reader((value) => typeof value === 'string', 'string_type', 'string')
export const objectAt = reader(isJsonObject, 'dict_type', 'dictionary')
export const listAt = reader((value): value is readonly Json[] => Array.isArray(value), 'list_type', 'list')
const numberAt = reader((value) => typeof value === 'number', 'float_type', 'number')
const booleanAt = reader((value) => typeof value === 'boolean', 'bool_type', 'boolean')

/** The words of a text. */
export const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

export const optional = <A>(value: Maybe, at: Place, read: (value: Maybe, at: Place) => A): A | undefined =>
  isAbsent(value) ? undefined : read(value, at)

export const objectsAt = (value: Maybe, at: Place): readonly JsonObject[] =>
  listAt(value, at).map((item, index) => objectAt(item, [...at, index]))

export const lengthAt = (value: Maybe, at: Place): number => {
  const length = numberAt(value, at)
  if (!Number.isInteger(length)) throw invalidField(at, 'int_type', 'Input should be a valid integer')
  if (length < 1) throw invalidField(at, 'greater_than_equal', 'Input should be greater than or equal to 1')
  return length
}

export const literalError = (at: Place, words: readonly string[]): Error =>
  invalidField(at, 'literal_error', `Input should be ${words.map((word) => `'${word}'`).join(' or ')}`)

/** The object without its undefined members. */
export const defined = (members: Readonly<Record<string, Maybe>>): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject

export const textPart = (text: string): JsonObject => ({ type: 'text', text })

export const imagePart = (url: string, more: JsonObject = {}): JsonObject => ({
  type: 'image_url',
  image_url: { url, ...more },
})

export const filePart = (file_data: string, name: Maybe): JsonObject => ({
  type: 'file',
  file: { filename: typeof name === 'string' && name !== '' ? name : 'document.pdf', file_data },
})

const MAX_USER_LENGTH = 64

/** Upstreams refuse longer ids of users. */
export const userOf = (id: Maybe): string | undefined => {
  if (typeof id !== 'string' || id === '') return undefined
  return id.length <= MAX_USER_LENGTH ? id : createHash('sha256').update(id).digest('hex')
}

interface Turn {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly parts: JsonObject[]
  readonly calls: JsonObject[]
  readonly callId?: string
}

/** Many upstreams accept only text of one piece. An answer may be in pieces of a sentence. */
const SEPARATORS = { system: '\n\n', user: '\n\n', assistant: '', tool: '\n' } as const

const isText = (part: JsonObject): boolean => part['type'] === 'text'

const messageOf = ({ role, parts, calls, callId }: Turn): JsonObject =>
  defined({
    role,
    content:
      parts.length === 0 && calls.length > 0
        ? null
        : parts.every(isText)
          ? parts.map(({ text }) => text as string).join(SEPARATORS[role])
          : parts,
    tool_calls: calls.length > 0 ? calls : undefined,
    tool_call_id: callId,
  })

const MAX_DROPPED = 100

interface Tools {
  readonly tools: readonly JsonObject[]
  readonly tool_choice: Json | undefined
  readonly parallel_tool_calls: boolean | undefined
}

/** A chat completion request in the making. Turns of one role that follow each other become one message. */
export class ChatRequest {
  private readonly dropped: string[] = []
  private readonly turns: Turn[] = []
  /** Images of tool results. They follow the last result, since messages of the role `tool` have only text. */
  private readonly images: JsonObject[] = []

  constructor(private readonly mayDrop: boolean) {}

  drop(at: Place): void {
    if (this.dropped.length < MAX_DROPPED) this.dropped.push(at.join('.'))
  }

  /** Drops a value that changes the answer, if the operator allows it. */
  refuse(at: Place, what: string): void {
    if (!this.mayDrop) throw this.refusal(at, what)
    this.drop(at)
  }

  /** For a value without which the request means something else. */
  refusal(at: Place, what: string): Error {
    return invalidField(
      at,
      'value_error',
      `${what} has no equivalent in chat completions, the only API that the upstreams of this model speak`,
    )
  }

  /** Handles the fields of the request that are not translated. Those not known are dropped. */
  checkFields(
    given: JsonObject,
    {
      translated,
      ignored,
      refused,
    }: Readonly<Record<'translated' | 'ignored' | 'refused', ReadonlySet<string>>>,
  ): void {
    for (const [key, value] of Object.entries(given)) {
      const isUnset = !value || (Array.isArray(value) && value.length === 0) || (key === 'n' && value === 1)
      if (isUnset || translated.has(key) || ignored.has(key)) continue
      if (refused.has(key)) this.refuse([key], key)
      else this.drop([key])
    }
  }

  add(role: 'system' | 'user' | 'assistant', parts: readonly JsonObject[]): void {
    if (role === 'user') parts = [...this.images.splice(0), ...parts]
    if (parts.length > 0) for (const part of parts) this.turn(role).parts.push(part)
  }

  addCall(id: string, name: string, text: string): void {
    this.turn('assistant').calls.push({ id, type: 'function', function: { name, arguments: text } })
  }

  addResult(callId: string, parts: readonly JsonObject[]): void {
    const texts = parts.filter(isText)
    const others = parts.filter((part) => !isText(part))
    if (texts.length === 0 && others.length > 0) texts.push(textPart('The result is in the next message.'))
    this.turns.push({ role: 'tool', parts: texts, calls: [], callId })
    for (const part of others) this.images.push(part)
  }

  /** The request with these members and those of both APIs. */
  finish(
    given: JsonObject,
    { tools, tool_choice, parallel_tool_calls }: Tools,
    members: JsonObject,
  ): TranslatedRequest {
    this.add('user', [])
    return {
      given: withDigitsOf(
        given,
        defined({
          model: given['model'],
          messages: this.turns.map(messageOf),
          ...(tools.length > 0 ? { tools, tool_choice, parallel_tool_calls } : {}),
          stream: optional(given['stream'], ['stream'], booleanAt),
          temperature: optional(given['temperature'], ['temperature'], numberAt),
          top_p: optional(given['top_p'], ['top_p'], numberAt),
          ...members,
        }),
      ),
      dropped: this.dropped,
    }
  }

  private turn(role: Turn['role']): Turn {
    if (role !== 'user' && role !== 'tool') this.add('user', [])
    const last = this.turns.at(-1)
    if (last?.role === role) return last
    const turn: Turn = { role, parts: [], calls: [] }
    this.turns.push(turn)
    return turn
  }
}

/** The name by which a tool is called and what it takes. */
interface FunctionTool {
  readonly name: string
  readonly description?: Json | undefined
  readonly parameters: JsonObject | undefined
  readonly strict?: Json | undefined
}

export const functionTool = (called: FunctionTool): JsonObject => ({
  type: 'function',
  function: defined({ ...called, strict: called.strict === true ? true : undefined }),
})

export const functionChoice = (name: string): JsonObject => ({ type: 'function', function: { name } })

export const jsonSchemaFormat = (format: JsonObject): JsonObject => ({
  type: 'json_schema',
  json_schema: format,
})
