import * as E from 'fp-ts/lib/Either.js'
import { judgeRequest, verdictIn, type Judge } from '../../domain/evaluation/judge.js'
import { allArguments } from '../../domain/evaluation/scorers/column-map.js'
import {
  decodeJudgeModel,
  decodeMessagesPrompt,
  type JudgeModel,
  type Message,
  type MessagesPrompt,
  type Nested,
} from '../../domain/evaluation/scorers/judge-settings.js'
import type { JudgeScorer } from '../../domain/evaluation/scorers/scorer.js'
import type { ScoreContext, ScoreRow } from '../../domain/evaluation/scoring.js'
import type { Json, JsonObject } from '../../domain/json/json.js'
import { backoff } from '../../runtime/backoff.js'
import { RunFailed } from './ports.js'

/** Asks a model through the service's own gateway. */
export type AskModel = (
  request: JsonObject,
  context: ScoreContext,
) => Promise<
  | { readonly completion: JsonObject }
  | { readonly failed: string; readonly isRetryable: boolean; readonly isUnknownModel: boolean }
>

/** The value of an object; undefined if it does not exist or may not be read. */
export type ReadObject = (ref: string) => Promise<Json | undefined>

const MAX_ATTEMPTS = 5
const BACKOFF = { firstMs: 1000, maxMs: 30_000 }

/**
 * Prepares an `LLMAsAJudgeScorer`: its prompt is filled with the fields of the row, and the score is what the model
 * answers.
 *
 * @throws RunFailed where an object that the scorer refers to is missing or not valid
 */
export const judgeScorer =
  (ask: AskModel) =>
  async (scorer: JudgeScorer, read: ReadObject): Promise<ScoreRow> => {
    const judge = await judgeOf(scorer, read)
    const argumentsOf = allArguments(scorer.columnMap)
    return async (row, context) => {
      const request = judgeRequest(judge, argumentsOf(row))
      if (E.isLeft(request)) return { failed: request.left }
      let model = judge.model.llm_model_id
      for (let attempt = 1; ; attempt += 1) {
        const asked = await ask({ model, ...request.right }, context)
        if ('completion' in asked) return verdictIn(judge.model, asked.completion)
        // The SDKs name a model with its provider, `openai/gpt-4o`; the gateway may have it under its own name alone.
        const bare = model.slice(model.indexOf('/') + 1)
        if (asked.isUnknownModel && bare !== model) model = bare
        else if (!asked.isRetryable || attempt >= MAX_ATTEMPTS || context.signal.aborted)
          return { failed: asked.failed }
        else await backoff(attempt, { ...BACKOFF, signal: context.signal })
      }
    }
  }

const judgeOf = async ({ settings, ref }: JudgeScorer, read: ReadObject): Promise<Judge> => {
  const follow = async <A>(nested: Nested<A>, decode: (value: Json) => E.Either<string, A>): Promise<A> => {
    if (nested.kind === 'inline') return nested.value
    const value = await read(nested.ref)
    if (value === undefined)
      throw new RunFailed(`${nested.ref}, which the scorer ${ref} refers to, does not exist`)
    const decoded = decode(value)
    if (E.isLeft(decoded)) throw new RunFailed(`${nested.ref}: ${decoded.left}`)
    return decoded.right
  }
  const model = await follow<JudgeModel>(settings.model, decodeJudgeModel)
  const { scoring_prompt: prompt } = settings
  const params = model.default_params
  const preamble =
    params?.prompt == null
      ? (params?.messages_template ?? [])
      : (await follow<MessagesPrompt>({ kind: 'ref', ref: params.prompt }, decodeMessagesPrompt)).messages
  const messages: readonly Message[] =
    prompt.kind === 'text'
      ? [{ role: 'user', content: prompt.text }]
      : (await follow<MessagesPrompt>(prompt, decodeMessagesPrompt)).messages
  return { model, preamble, prompt: messages }
}
