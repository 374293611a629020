import * as E from 'fp-ts/lib/Either.js'
import { answerIn, judgeRequest, modelRequest } from '../../domain/evaluations/judge.js'
import { resolveJudge, resolveMessages, type ReadObject } from '../../domain/evaluations/resolve-judge.js'
import { allArguments } from '../../domain/evaluations/scorers/column-map.js'
import { decodeJudgeModel, type JudgeModel } from '../../domain/evaluations/scorers/judge-settings.js'
import type { JudgeScorer } from '../../domain/evaluations/scorers/scorer.js'
import type { ScoreContext, Scored, ScoreRow } from '../../domain/evaluations/scoring.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { backoff } from '../../kernel/backoff.js'
import { RunFailed, type AskModel } from '../../application/evaluations/services.js'

/** Asks a model about an example. Never rejects. */
export type AskableModel = (
  example: Json,
  context: ScoreContext,
) => Promise<{ readonly output: Json } | { readonly failed: string }>

const MAX_ATTEMPTS = 5
const BACKOFF = { firstMs: 1000, maxMs: 30_000 }
/** A rate limit is waited for until then. */
const MAX_PATIENCE_MS = 10 * 60_000

/**
 * Prepares an `LLMAsAJudgeScorer`: its prompt is filled with the fields of the row, and the score is what the model
 * answers.
 *
 * @throws RunFailed where an object that the scorer refers to is missing or not valid
 */
export const judgeScorer =
  (ask: AskModel) =>
  async (scorer: JudgeScorer, read: ReadObject): Promise<ScoreRow> => {
    const judge = orFail(await resolveJudge(scorer, read))
    const argumentsOf = allArguments(scorer.columnMap)
    return async (row, context) => {
      const request = judgeRequest(judge, argumentsOf(row))
      return E.isLeft(request)
        ? { failed: request.left }
        : askPatiently(ask, judge.model, request.right, context)
    }
  }

/**
 * Prepares an `LLMStructuredCompletionModel`, which is asked about examples.
 *
 * @throws RunFailed where the object is not such a model
 */
export const askableModel =
  (ask: AskModel) =>
  async (ref: string, value: Json, read: ReadObject): Promise<AskableModel> => {
    const model = decodeJudgeModel(value)
    if (E.isLeft(model)) throw new RunFailed(`${ref} cannot be evaluated by the service: ${model.left}`)
    const messages = orFail(await resolveMessages(ref, model.right, read))
    return async (example, context) => {
      const request = modelRequest(model.right, messages, example)
      if (E.isLeft(request)) return { failed: request.left }
      const answer = await askPatiently(ask, model.right, request.right, context)
      return 'value' in answer ? { output: answer.value } : answer
    }
  }

/** Tries again while the gateway or its upstreams are overloaded. The wait for a rate limit does not use up an attempt. */
const askPatiently = async (
  ask: AskModel,
  { llm_model_id, default_params }: JudgeModel,
  request: JsonObject,
  context: ScoreContext,
): Promise<Scored> => {
  let model = llm_model_id
  const giveUpAt = performance.now() + MAX_PATIENCE_MS
  let attempt = 1
  for (;;) {
    const answer = await ask({ model, ...request }, context)
    if ('completion' in answer) return answerIn(answer.completion, default_params?.response_format ?? null)
    const { failed, isRetryable, isUnknownModel, retryAfterMs } = answer
    // The SDKs name a model with its provider, `openai/gpt-4o`; the gateway may have it under its own name alone.
    const bare = model.slice(model.indexOf('/') + 1)
    if (isUnknownModel && bare !== model) model = bare
    else if (isUnknownModel) return { failed: `model ${llm_model_id}: ${failed}` }
    else if (!isRetryable) return { failed }
    else if (attempt >= MAX_ATTEMPTS || performance.now() >= giveUpAt || context.signal.aborted)
      return { failed, isUnavailable: true }
    else if (retryAfterMs !== null)
      await backoff(1, { firstMs: retryAfterMs, maxMs: MAX_PATIENCE_MS, signal: context.signal })
    else {
      await backoff(attempt, { ...BACKOFF, signal: context.signal })
      attempt += 1
    }
  }
}

const orFail = <A>(result: E.Either<string, A>): A => {
  if (E.isLeft(result)) throw new RunFailed(result.left)
  return result.right
}
