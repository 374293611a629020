import type { Ports } from '../../kernel/ports/ports.js'
import * as E from 'fp-ts/lib/Either.js'
import { decode } from '../../kernel/codec/codec.js'
import { chat } from '../endpoints/chat.js'
import { chatRequest } from '../endpoints/requests.js'
import { entityOf } from '../../kernel/ids.js'
import { isJsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { Failure } from '../../application/failure.js'
import type { AskModel, ModelAnswer } from '../../application/evaluations/services.js'
import type { Directory } from '../../domain/access/directory.js'
import { principalOfUser } from '../../domain/access/look-ups.js'
import type { GatewayServices } from '../gateway.js'
import { complete } from './complete.js'

const final = (failed: string): ModelAnswer => ({
  failed,
  isRetryable: false,
  isUnknownModel: false,
  retryAfterMs: null,
})

/** UTF-8 in a header, as Node decodes it: as Latin-1. */
const inHeader = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

const RETRYABLE = new Set<Failure['kind']>([
  'overloaded',
  'rate-limited',
  'upstream-failed',
  'upstream-too-slow',
  'upstream-overloaded',
  'not-yet-readable',
])

/** A completion for the service itself. Recorded, metered and limited like the request of a client with the same key. */
export const completeForService =
  (
    services: Pick<GatewayServices, keyof Ports | 'access' | 'reading' | 'vendor' | 'gateway' | 'training'>,
    directory: () => Directory,
  ): AskModel =>
  async (request, { projectId, scoreId, traceId, userId, keyId, signal }) => {
    const body = decode(chatRequest)(request)
    if (E.isLeft(body)) {
      const [problem] = body.left
      const reason = `the request is not valid: ${problem?.loc.join('.') ?? ''}: ${problem?.msg ?? ''}`
      return final(reason)
    }
    const memory = services.gateway.memory.lease(entityOf(projectId))
    try {
      const { body: answer } = await complete(services, {
        request: { endpoint: chat, ...body.right },
        url: '',
        headers: {
          [`${services.vendor.toLowerCase()}-project`]: inHeader(projectId),
          'tallytree-parent-call': inHeader(scoreId),
          'tallytree-trace': inHeader(traceId),
        },
        principal: principalOfUser(directory(), userId, keyId),
        cause: { correlationId: scoreId, causationId: scoreId, actor: userId },
        onDisconnect: (onDisconnect) => {
          signal.addEventListener('abort', onDisconnect, { once: true })
          return () => signal.removeEventListener('abort', onDisconnect)
        },
        memory,
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
    } finally {
      memory.release()
    }
  }
