import * as E from 'fp-ts/lib/Either.js'
import { decode } from '../../kernel/codec/codec.js'
import { completionRequest } from '../answer/request.js'
import type { Cause } from '../../kernel/event.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { Failure } from '../../application/failure.js'
import type { Principal } from '../../application/principal.js'
import type { Inference } from '../gateway.js'
import { complete } from './complete.js'

/** A completion that the service itself needs, such as the verdict of a judge, on behalf of a user. */
export interface ServiceCompletion {
  readonly projectId: string
  /** The call that it is part of. */
  readonly parentId: string
  readonly traceId: string
  readonly request: JsonObject
  readonly principal: Principal
  readonly cause: Cause
  readonly signal: AbortSignal
}

export type ServiceCompleted =
  | { readonly completion: JsonObject }
  | {
      readonly failed: string
      readonly isRetryable: boolean
      readonly isUnknownModel: boolean
      /** When a rate limit has room again; null for other failures. */
      readonly retryAfterMs: number | null
    }

const final = (failed: string): ServiceCompleted => ({
  failed,
  isRetryable: false,
  isUnknownModel: false,
  retryAfterMs: null,
})

const RETRYABLE = new Set<Failure['kind']>([
  'overloaded',
  'rate-limited',
  'upstream-failed',
  'upstream-too-slow',
  'not-yet-readable',
])

/** Goes the same way as a request of a client: recorded as a call, metered, under the limits and budgets of the key. */
export const completeForService =
  (inference: Inference) =>
  async (asked: ServiceCompletion): Promise<ServiceCompleted> => {
    const body = decode(completionRequest)(asked.request)
    if (E.isLeft(body)) {
      const [problem] = body.left
      const reason = `the request is not valid: ${problem?.loc.join('.') ?? ''}: ${problem?.msg ?? ''}`
      return final(reason)
    }
    try {
      const { body: answer } = await complete(inference, {
        body: body.right,
        headers: {
          [`${inference.vendor}-project`]: asked.projectId,
          // Headers are bytes; those of an id are UTF-8.
          'tallytree-parent-call': Buffer.from(asked.parentId, 'utf8').toString('latin1'),
          'tallytree-trace': Buffer.from(asked.traceId, 'utf8').toString('latin1'),
        },
        principal: asked.principal,
        cause: asked.cause,
        onDisconnect: (onDisconnect) => {
          asked.signal.addEventListener('abort', onDisconnect, { once: true })
          return () => asked.signal.removeEventListener('abort', onDisconnect)
        },
      })
      const completion = parseJson(typeof answer === 'string' ? answer : 'null')
      return isJsonObject(completion) ? { completion } : final('the completion is not an object')
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const { code, isFinal, retryAfter } = error.details
      return {
        failed: error.reason,
        isRetryable: RETRYABLE.has(error.kind) && isFinal !== true,
        isUnknownModel: code === 'model_not_found',
        retryAfterMs: error.kind === 'rate-limited' && retryAfter !== undefined ? retryAfter * 1000 : null,
      }
    }
  }
