import * as E from 'fp-ts/lib/Either.js'
import type { EvaluationServices } from '../../application/evaluations/services.js'
import { secretProblem } from '../../application/secrets/secret-uses.js'
import { secretValuesOf } from '../../application/secrets/secret-values.js'
import { setTimeout as sleep } from 'node:timers/promises'
import { retryAfterMs } from '../../domain/webhooks/deliveries/retry-after.js'
import { answeredJson } from '../../domain/evaluations/answered-json.js'
import { allArguments } from '../../domain/evaluations/scorers/column-map.js'
import type { HttpScorer } from '../../domain/evaluations/scorers/scorer.js'
import type { Scored, ScoreRow } from '../../domain/evaluations/scoring.js'
import { entityOf } from '../../kernel/ids.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { SendError, SendResult } from '../../kernel/ports/webhook-sender.js'
import { NO_SECRET } from '../../domain/secrets/static-headers.js'
import { messageHeaders, scorerSecret } from '../../domain/webhooks/signing.js'

export type HttpServices = Pick<
  EvaluationServices,
  'eventStore' | 'secrets' | 'webhookSender' | 'hmacSha256' | 'clock' | 'vendor'
>

/** Versions of a secret that sign at the same time. */
const MAX_VERSIONS = 10
const MAX_ATTEMPTS = 5
const MAX_WAIT_MS = 60_000
/** The sender truncates answers to this size. */
const MAX_ANSWER_BYTES = 16 * 1024

/**
 * Posts each row to the scorer's URL, signed as webhooks are but with a key of its own, and takes `score` of the JSON answer. Connection faults,
 * 429 and 5xx are tried again. `webhook-id` is the id of the score's call, so that the receiver recognises a repeat.
 */
export const httpScorer = (services: HttpServices, firstWaitMs = 1000) => {
  const { webhookSender, clock, vendor } = services
  const headersOf = messageHeaders(services.hmacSha256)
  return ({ name, columnMap, settings }: HttpScorer): ScoreRow => {
    const argumentsOf = allArguments(columnMap)
    return async (row, context) => {
      const team = entityOf(context.projectId)
      const problem = await secretProblem(services, team, settings.secret, 'scorers')
      const values = await secretValuesOf(services, team, settings.secret, MAX_VERSIONS)
      if (problem === NO_SECRET || values.length === 0)
        return { failed: `the team has no secret named ${settings.secret}` }
      if (problem !== undefined) return { failed: problem }
      const secrets = values.map((one) => scorerSecret(services.hmacSha256, one))
      const body = new TextEncoder().encode(
        jsonText({
          scorer: name,
          project_id: context.projectId,
          evaluation_run_id: context.runId,
          call_id: context.rowId,
          arguments: argumentsOf(row),
        }),
      )
      let mayBeRepeat = context.mayBeRepeat
      for (let attempt = 1; ; attempt += 1) {
        const headers = headersOf({
          vendor,
          id: context.scoreId,
          attempt,
          sequence: '0',
          possibleDuplicate: mayBeRepeat,
          now: clock.now(),
          body,
          accessToken: null,
          secrets,
        })
        if (E.isLeft(headers)) return { failed: headers.left }
        const timeoutMs = settings.timeout_s * 1000
        const sent = await webhookSender.send(
          { url: settings.url, headers: headers.right, body, timeoutMs },
          context.signal,
        )
        mayBeRepeat ||= sent.bodySent
        const scored = scoreIn(sent)
        if ('value' in scored || !isRetryable(sent)) return scored
        if (attempt === MAX_ATTEMPTS || context.signal.aborted) return { ...scored, isUnavailable: true }
        const retryAfter = retryAfterMs(sent.headers['retry-after'], clock.now())
        const waitMs = Math.min(retryAfter ?? firstWaitMs * 2 ** (attempt - 1), MAX_WAIT_MS)
        await sleep(waitMs, undefined, { signal: context.signal }).catch(() => undefined)
      }
    }
  }
}

const scoreIn = ({ status, body, error }: SendResult): Scored => {
  if (status === null) return { failed: error === null ? 'no answer' : textOf(error) }
  const answer = answeredJson(textIn(body) ?? '')
  if (status !== 200) return { failed: `the scorer answered status ${status}${errorIn(answer)}` }
  if (answer === undefined)
    return {
      failed:
        body.length >= MAX_ANSWER_BYTES
          ? `the answer of the scorer is larger than ${MAX_ANSWER_BYTES} bytes`
          : 'the answer of the scorer is not JSON, or is incomplete',
    }
  return isJsonObject(answer) && Object.hasOwn(answer, 'score')
    ? { value: answer['score']! }
    : { failed: 'the answer of the scorer should be an object with the member "score"' }
}

const MAX_ERROR = 300

/** The error message of the scorer: the text of the member `error`. */
const errorIn = (answer: Json | undefined): string => {
  const error = answer !== undefined && isJsonObject(answer) ? answer['error'] : undefined
  return typeof error === 'string' ? `: ${error.slice(0, MAX_ERROR).toWellFormed()}` : ''
}

const textIn = (body: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}

const FINAL = new Set<SendError['kind']>(['forbidden-address', 'forbidden-name', 'aborted'])

const isRetryable = ({ status, error }: SendResult): boolean =>
  status === null ? error !== null && !FINAL.has(error.kind) : status === 429 || status >= 500

const textOf = (error: SendError): string => {
  switch (error.kind) {
    case 'forbidden-address':
    case 'forbidden-name':
      return 'the URL of the scorer leads to an address that the operator does not allow'
    case 'timeout':
      return `the scorer did not answer in time (${error.phase})`
    case 'aborted':
      return 'the request was aborted'
    default:
      return `the scorer cannot be reached (${error.kind} ${error.code})`
  }
}
