import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { addressOf, UpstreamFault } from '../../domain/gateway/upstreams/upstream-client.js'
import type { Target } from '../../domain/gateway/upstreams/offered.js'
import { Failure } from '../../application/failure.js'
import { promptTokensOf } from '../answer/prompt.js'
import { RequestText } from '../answer/request-text.js'
import { messages } from '../endpoints/messages.js'
import type { Gateway } from '../gateway.js'
import { resolveTargets, type ClientRequest, type CompletionServices } from './complete.js'
import { readError, readJson } from './read-answer.js'
import { passedOn, type PassedOn } from './request-context.js'
import { speaks } from './serving.js'
import { redactCredential, resolveCredential, upstreamHeaders } from './upstream-credential.js'
import { failureOfStatus } from './upstream-failure.js'

const PATH = 'messages/count_tokens'
/** Clients wait for it before they go on. */
const WITHIN_MS = 10_000
/** The request is wrong. After any other failure an estimate serves the client better. */
const FAULTS_OF_CLIENT = new Set([400, 413, 422])

type Asked = Pick<ClientRequest, 'headers' | 'principal' | 'memory' | 'url'> & {
  readonly model: string
  readonly given: JsonObject
}

/** The tokens of a request of Anthropic's API: of an upstream that counts them, or an estimate. Free, and not recorded. */
export const countTokens = async (services: CompletionServices, asked: Asked): Promise<JsonObject> => {
  const { model, given, headers, principal } = asked
  const { targets } = await resolveTargets(services, model, headers, principal)
  const text = await RequestText.of(given)
  const [target] = services.gateway.targets.inOrder(targets.filter(speaks(messages.api)))
  const request = passedOn(headers, asked.url, messages.form)
  const counted = target && (await countedAt(services.gateway, target, text, request, asked))
  return counted ?? { input_tokens: promptTokensOf(given, text).estimate }
}

/** Not counted for the health of the upstream: many do not serve it. */
const countedAt = async (
  gateway: Gateway,
  { upstream, model }: Target,
  text: RequestText,
  { headers, query }: PassedOn,
  { memory }: Pick<Asked, 'memory'>,
): Promise<JsonObject | undefined> => {
  const credentials = await resolveCredential(gateway, upstream)
  if ('failure' in credentials) return undefined
  const timeouts = {
    connect_ms: WITHIN_MS,
    first_byte_ms: WITHIN_MS,
    idle_ms: WITHIN_MS,
    total_ms: WITHIN_MS,
  }
  try {
    const answer = await gateway.upstreamClient.ask({
      url: addressOf(upstream, PATH, { ...query, ...credentials.query }),
      headers: {
        'content-type': 'application/json',
        ...headers,
        ...upstreamHeaders('application/json', credentials, messages.form),
      },
      body: text.with({ model: JSON.stringify(model.upstream_id) }),
      timeouts,
      isGuarded: upstream.isConfigured !== true,
      isFresh: false,
    })
    const { status } = answer
    if (status < 300) {
      const counted = await readJson(answer, memory)
      return isJsonObject(counted) && typeof counted['input_tokens'] === 'number' ? counted : undefined
    }
    const error = await readError(answer)
    if (!FAULTS_OF_CLIENT.has(status)) return undefined
    throw failureOfStatus(status, answer.headers, error, redactCredential(credentials))
  } catch (error) {
    if (error instanceof UpstreamFault) return undefined
    if (error instanceof Failure && error.kind === 'upstream-failed') return undefined
    throw error
  }
}
