import * as E from 'fp-ts/lib/Either.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { answeredJson } from './answered-json.js'
import { formatTemplate } from './format-template.js'
import type { JudgeModel, Message } from './scorers/judge-settings.js'
import type { Scored } from './scoring.js'

/** A judge with its references resolved. */
export interface Judge {
  readonly model: JudgeModel
  /** Messages of the model that come before the scoring prompt. As in the SDKs, they are no templates here. */
  readonly preamble: readonly Message[]
  readonly prompt: readonly Message[]
}

/** The request of a chat completion that asks the judge for its verdict, without the model. */
export const judgeRequest = (judge: Judge, variables: JsonObject): E.Either<string, JsonObject> => {
  const messages: JsonObject[] = [...judge.preamble]
  for (const message of judge.prompt) {
    const formatted = formatMessage(message, variables)
    if (E.isLeft(formatted)) return formatted
    messages.push(formatted.right)
  }
  return E.right({ messages, ...parametersOf(judge.model) })
}

/**
 * The request of a chat completion that asks a model about an example: its messages, which may name columns, and those
 * of the column `user_input`.
 */
export const modelRequest = (
  model: JudgeModel,
  templates: readonly Message[],
  example: Json,
): E.Either<string, JsonObject> => {
  const columns = isJsonObject(example) ? example : {}
  const input = columns['user_input'] ?? (isJsonObject(example) ? null : example)
  if (templates.length === 0 && input === null)
    return E.left('the example has no column user_input, and the model has no messages of its own')
  const messages: JsonObject[] = []
  for (const template of templates) {
    const formatted = formatMessage(template, columns)
    if (E.isLeft(formatted)) return formatted
    messages.push(formatted.right)
  }
  messages.push(...messagesIn(input))
  return E.right({ messages, ...parametersOf(model) })
}

/** Text is one message of the user. */
const messagesIn = (input: Json): readonly JsonObject[] => {
  if (input === null) return []
  if (Array.isArray(input)) return (input as readonly Json[]).flatMap(messagesIn)
  return isJsonObject(input)
    ? [input]
    : [{ role: 'user', content: typeof input === 'string' ? input : JSON.stringify(input) }]
}

const formatMessage = (message: Message, variables: JsonObject): E.Either<string, JsonObject> => {
  const content = formatContent(message['content'] ?? null, variables)
  return E.isLeft(content) ? content : E.right({ ...message, content: content.right })
}

/** Text content is a template; in a list of parts, only parts of type `text` are. */
const formatContent = (content: Json, variables: JsonObject): E.Either<string, Json> => {
  if (typeof content === 'string') return formatTemplate(content, variables)
  if (!Array.isArray(content)) return E.right(content)
  const parts: Json[] = []
  for (const part of content as readonly Json[]) {
    const text = isJsonObject(part) ? part['text'] : undefined
    if (typeof text !== 'string') {
      parts.push(part)
      continue
    }
    const formatted = formatTemplate(text, variables)
    if (E.isLeft(formatted)) return formatted
    parts.push({ ...(part as JsonObject), text: formatted.right })
  }
  return E.right(parts)
}

const parametersOf = ({ default_params: params }: JudgeModel): JsonObject => {
  const { temperature, top_p, max_tokens, presence_penalty, frequency_penalty } = params ?? {}
  const { stop, n_times, functions, response_format } = params ?? {}
  const all: Readonly<Record<string, Json | undefined>> = {
    temperature,
    top_p,
    max_tokens,
    presence_penalty,
    frequency_penalty,
    n: n_times,
    stop: stop?.length === 0 ? null : stop,
    functions: functions?.length === 0 ? null : functions,
    response_format:
      response_format === 'json_object' || response_format === 'text' ? { type: response_format } : null,
  }
  return Object.fromEntries(
    Object.entries(all).filter(
      (entry): entry is [string, Json] => entry[1] !== undefined && entry[1] !== null,
    ),
  )
}

/** The answer in a chat completion: its text, or the JSON in it where JSON was asked for. */
export const answerIn = (
  completion: JsonObject,
  responseFormat: 'json_object' | 'json_schema' | 'text' | null,
): Scored => {
  const [choice] = Array.isArray(completion['choices']) ? (completion['choices'] as readonly Json[]) : []
  const message = choice !== undefined && isJsonObject(choice) ? choice['message'] : undefined
  const content = message !== undefined && isJsonObject(message) ? message['content'] : undefined
  if (typeof content !== 'string') return { failed: 'the model answered without text' }
  if (responseFormat !== 'json_object') return { value: content }
  const value = answeredJson(content)
  return value === undefined
    ? { failed: 'the model was asked for JSON and answered with text that is not JSON' }
    : { value }
}
