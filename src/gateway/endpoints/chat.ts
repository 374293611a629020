import { STATUS } from '../../application/failure-status.js'
import { maxCompletionTokens } from '../../domain/gateway/limits/max-tokens.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { jsonTextInSteps } from '../../kernel/json/text-in-steps.js'
import type { Failure } from '../../application/failure.js'
import { openAiErrorOf } from './errors.js'
import { AnswerFold } from '../answer/fold.js'
import { FAILED_EVENT, reportsError } from '../answer/reported-error.js'
import { CompletionStream, type ChunkResult } from '../answer/stream.js'
import { meteredWhole, wholeAnswer } from '../answer/whole-answer.js'
import { parsed } from '../completions/read-answer.js'
import {
  eventText,
  type Answer,
  type AnswerOptions,
  type BodyOptions,
  type Endpoint,
  type TakenPiece,
} from './endpoint.js'

const DONE = /^"?\[DONE\]"?$/i

/** The number of choices. */
const choicesOf = ({ n }: JsonObject): number => (typeof n === 'number' ? n : 1)

const optionsIn = ({ stream_options: options }: JsonObject): JsonObject =>
  isJsonObject(options) ? options : {}

const changes = (given: JsonObject, { stream, requestsUsage, continuousUsage }: BodyOptions) => {
  if (!stream) return {}
  const options = {
    ...optionsIn(given),
    include_usage: true,
    ...(continuousUsage ? { continuous_usage_stats: true } : {}),
  }
  return { stream_options: requestsUsage ? jsonText(options) : undefined }
}

/** The choices of a value as those of chat, and back. */
interface Choices {
  readonly asChat: (value: Json) => Json
  readonly fromChat: (value: JsonObject) => JsonObject
  /** Of the prompts. */
  readonly count: (given: JsonObject) => number
}

const chatAnswer =
  ({ asChat, fromChat, count }: Choices) =>
  ({ given, publicModel, expected, room, hidesRunningUsage }: AnswerOptions): Answer => {
    const options = optionsIn(given)
    const fold = room === null ? null : new AnswerFold(publicModel, room)
    const stream = new CompletionStream(
      {
        publicModel,
        n: count(given),
        includeUsage: given['stream'] !== true || options['include_usage'] === true,
        hidesRunningUsage: hidesRunningUsage && options['continuous_usage_stats'] !== true,
        expected,
      },
      fold,
      () => performance.now(),
    )
    const taken = async (result: ChunkResult, length: number): Promise<TakenPiece> => {
      if ('error' in result) return { text: '', error: result.error }
      return { text: result.chunk === null ? '' : await chunkText(fromChat(result.chunk), length) }
    }

    const take: Answer['take'] = async ({ event, data, value }) => {
      if (DONE.test(data.trim())) {
        stream.done()
        return { text: '' }
      }
      const chunk = value ?? (await parsed(data))
      if (event !== undefined && FAILED_EVENT.test(event) && !stream.isDone)
        return { text: '', error: chunk ?? data }
      if (chunk !== undefined) return taken(stream.take(asChat(chunk)), data.length)
      // Text that is not JSON, such as `ping`, is skipped. A truncated chunk is an error.
      if (!stream.isDone && data.trimStart().startsWith('{'))
        return { text: '', invalid: 'a chunk is not JSON, is nested too deeply, or has too many values' }
      stream.takeText(data)
      return { text: '' }
    }

    return {
      take,
      takeWhole: async (value) => {
        let text = ''
        for (const chunk of Array.isArray(value) ? (value as readonly Json[]) : [value]) {
          const piece = await taken(stream.take(asChat(chunk)), Infinity)
          if (piece.error !== undefined) return piece
          text += piece.text
        }
        if (isJsonObject(value) || Array.isArray(value)) stream.done()
        return { text }
      },
      whole: (value) => {
        const answer = reportsError(value) === 'yes' ? undefined : wholeAnswer(asChat(value), publicModel)
        return answer && { body: fromChat(answer), metered: meteredWhole(answer, expected) }
      },
      missing: () => (stream.hasBegun ? 'its choices have no message' : 'it has no choices'),
      isAnswered: () => stream.isAnswered,
      isDone: () => stream.isDone,
      isComplete: () => stream.isComplete,
      parts: () => stream.parts,
      contentAt: () => stream.contentAt,
      suspected: () => stream.suspected,
      incomplete: () =>
        stream.isAnswered ? 'the stream ended without a finish_reason' : 'the stream has no completion',
      metered: () => stream.metered,
      folded: () => {
        const whole = fold?.whole() ?? null
        return whole && fromChat(whole)
      },
      release: () => fold?.release(),
      end: 'data: [DONE]\n\n',
      failed,
    }
  }

const failed = (failure: Failure): string =>
  eventText(JSON.stringify(openAiErrorOf(failure, STATUS[failure.kind])))

/** In characters. Shorter chunks are written at once. */
const LONG_CHUNK = 65_536

const chunkText = async (chunk: Json, length: number): Promise<string> =>
  eventText(length > LONG_CHUNK ? await jsonTextInSteps(chunk) : jsonText(chunk))

export const chat: Endpoint = {
  api: 'chat',
  opName: 'openai.chat.completions.create',
  path: 'chat/completions',
  form: 'openai',
  asksForUsage: true,
  holdsHeadMs: Infinity,
  mostTokens: (given) => maxCompletionTokens(given, choicesOf(given)),
  changes,
  answer: chatAnswer({ asChat: (value) => value, fromChat: (value) => value, count: choicesOf }),
  failed,
}

/** The choices of an answer with one member under another name and with another value. */
const withChoices = (value: JsonObject, change: (choice: JsonObject) => JsonObject): JsonObject => {
  const { choices } = value
  if (!Array.isArray(choices)) return value
  return withDigitsOf(value, {
    ...value,
    choices: choices.map((choice: Json) => (isJsonObject(choice) ? change(choice) : choice)),
  })
}

const renamed = (choice: JsonObject, from: string, to: string, of: (value: Json) => Json): JsonObject =>
  withDigitsOf(
    choice,
    Object.fromEntries(
      Object.entries(choice).map(([key, value]) => (key === from ? [to, of(value)] : [key, value])),
    ),
  )

const textIn = (value: Json): Json => (isJsonObject(value) ? (value['text'] ?? '') : value)

const promptsOf = ({ prompt }: JsonObject): number =>
  Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1

/** Completions of a text: as chat, with a text in place of a message. */
export const completions: Endpoint = {
  ...chat,
  api: 'completions',
  opName: 'openai.completions.create',
  path: 'completions',
  mostTokens: (given) => maxCompletionTokens(given, choicesOf(given) * promptsOf(given)),
  answer: (options) =>
    chatAnswer({
      asChat: (value) =>
        isJsonObject(value)
          ? withChoices(value, (choice) =>
              renamed(choice, 'text', options.given['stream'] === true ? 'delta' : 'message', (text) => ({
                text,
              })),
            )
          : value,
      fromChat: (value) => ({
        ...withChoices(value, (choice) =>
          renamed(
            'delta' in choice ? choice : renamed(choice, 'message', 'text', textIn),
            'delta',
            'text',
            textIn,
          ),
        ),
        object: 'text_completion',
      }),
      count: (given) => choicesOf(given) * promptsOf(given),
    })(options),
}
