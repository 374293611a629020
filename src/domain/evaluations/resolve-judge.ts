import * as E from 'fp-ts/lib/Either.js'
import type { Json } from '../../kernel/json/json.js'
import type { Judge } from './judge.js'
import {
  decodeJudgeModel,
  decodeMessagesPrompt,
  type JudgeModel,
  type Message,
  type MessagesPrompt,
  type Nested,
} from './scorers/judge-settings.js'
import type { JudgeScorer } from './scorers/scorer.js'

/** The value of an object; undefined if it does not exist or may not be read. */
export type ReadObject = (ref: string) => Promise<Json | undefined>

/** Reads the objects that a judge refers to; the error names the one that is missing or not valid. */
export const resolveJudge = async (
  { settings, ref }: JudgeScorer,
  read: ReadObject,
): Promise<E.Either<string, Judge>> => {
  const model = await resolved<JudgeModel>(ref, settings.model, decodeJudgeModel, read)
  if (E.isLeft(model)) return model
  const { scoring_prompt: scoring } = settings
  const prompt: E.Either<string, MessagesPrompt> =
    scoring.kind === 'text'
      ? E.right({ messages: [{ role: 'user', content: scoring.text }] })
      : await resolved<MessagesPrompt>(ref, scoring, decodeMessagesPrompt, read)
  if (E.isLeft(prompt)) return prompt
  const preamble = await resolveMessages(ref, model.right, read)
  if (E.isLeft(preamble)) return preamble
  return E.right({ model: model.right, preamble: preamble.right, prompt: prompt.right.messages })
}

/** The messages of a model that come first. `prompt` takes precedence over `messages_template`. */
export const resolveMessages = async (
  ref: string,
  { default_params: params }: JudgeModel,
  read: ReadObject,
): Promise<E.Either<string, readonly Message[]>> => {
  const prompt = params?.prompt ?? null
  if (prompt === null) return E.right(params?.messages_template ?? [])
  const nested: Nested<MessagesPrompt> = { kind: 'ref', ref: prompt }
  const found = await resolved<MessagesPrompt>(ref, nested, decodeMessagesPrompt, read)
  return E.map(({ messages }: MessagesPrompt) => messages)(found)
}

const resolved = async <A>(
  from: string,
  nested: Nested<A>,
  decode: (value: Json) => E.Either<string, A>,
  read: ReadObject,
): Promise<E.Either<string, A>> => {
  if (nested.kind === 'inline') return E.right(nested.value)
  const value = await read(nested.ref)
  if (value === undefined) return E.left(`${nested.ref}, which ${from} refers to, does not exist`)
  return E.mapLeft((error: string) => `${nested.ref}: ${error}`)(decode(value))
}
