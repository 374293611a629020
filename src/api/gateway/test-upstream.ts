import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { boolean, int64, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { MemoryLease } from '../../kernel/memory-account.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { addressOf, UpstreamFault } from '../../domain/gateway/upstreams/upstream-client.js'
import { APIS, type Api } from '../../domain/gateway/upstreams/apis.js'
import { Failure } from '../../application/failure.js'
import {
  redactCredential,
  resolveCredential,
  upstreamHeaders,
} from '../../gateway/completions/upstream-credential.js'
import { passedOn } from '../../gateway/completions/request-context.js'
import { ENDPOINTS } from '../../gateway/endpoints/all.js'
import { readError, readJson } from '../../gateway/completions/read-answer.js'
import { failureOfFault, failureOfStatus, memoryUsedUp } from '../../gateway/completions/upstream-failure.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readDirectory } from '../server/route-kinds.js'
import { requireGoodUpstream, requireOwner, UPSTREAMS_PATH } from './managed-upstream.js'
import { newUpstream } from './upstream-codecs.js'

const WITHIN_MS = 10_000
const WITHIN = { connect_ms: WITHIN_MS, first_byte_ms: WITHIN_MS, idle_ms: WITHIN_MS, total_ms: WITHIN_MS }
const MOST_MODELS = 1000

const testedUpstream = open('TestedUpstream', {
  says:
    'What the upstream answers to `GET {base_url}/models`. `unknown_models` are names at the upstream that it does not list; ' +
    '`apis` lists the APIs that it serves, by probing each path with an empty request; `error` says what to change.',
  required: {
    success: boolean,
    status: nullable(int64),
    duration_ms: int64,
    models: arrayOf(string),
    unknown_models: arrayOf(string),
    apis: arrayOf(oneOf(...APIS)),
    error: nullable(string),
  },
})
type Tested = t.TypeOf<typeof testedUpstream>

type TestServices = Pick<GatewayServices, 'eventStore' | 'ids' | 'access' | 'secrets' | 'vendor' | 'gateway'>

export const testUpstream = (services: TestServices): AnyRoute =>
  readDirectory({
    method: 'post',
    path: `${UPSTREAMS_PATH}/test`,
    summary:
      'Asks an upstream, which need not be saved, for its models. Needs the role team_administrator, or the administrator key ' +
      'for an upstream of all teams.',
    body: newUpstream,
    response: testedUpstream,
    authorization: {
      errors: ['not-found', 'forbidden'],
      authorize: ({ body: { team }, principal }: RouteRequest<t.TypeOf<typeof newUpstream>>) => {
        requireOwner(services, principal, team)
        return {}
      },
    },
    handle: async ({ body: { team, ...content }, memory }) => {
      await requireGoodUpstream(services, team, content)
      const since = performance.now()
      const upstream = { id: '', team, content }
      const { status, models, error } = await listModels(services, upstream, memory)
      const apis = status === null || NO_ACCESS.has(status) ? [] : await servedApis(services, upstream)
      const duration_ms = Math.round(performance.now() - since)
      const named = content.models.map(({ upstream_id }) => upstream_id)
      const unknown_models = models === null ? [] : named.filter((name) => !models.includes(name))
      const body: Tested = {
        success: error === null,
        status,
        duration_ms,
        models: (models ?? []).slice(0, MOST_MODELS),
        unknown_models,
        apis,
        error,
      }
      return { body }
    },
  })

interface Listed {
  readonly status: number | null
  readonly models: readonly string[] | null
  readonly error: string | null
}

const listModels = async (
  { gateway }: Pick<GatewayServices, 'gateway'>,
  upstream: Parameters<typeof addressOf>[0],
  memory: MemoryLease,
): Promise<Listed> => {
  const sent = await resolveCredential(gateway, upstream)
  if ('failure' in sent) return { status: null, models: null, error: sent.failure.reason }
  const { timeouts } = upstream.content
  try {
    const answer = await gateway.upstreamClient.ask({
      url: addressOf(upstream, 'models', sent.query),
      headers: upstreamHeaders('application/json', sent),
      body: null,
      timeouts: { ...WITHIN, connect_ms: timeouts.connect_ms },
      isGuarded: true,
      isFresh: true,
    })
    const { status } = answer
    if (status === 200) return { status, models: idsIn(await readJson(answer, memory)), error: null }
    const { reason } = failureOfStatus(
      status,
      answer.headers,
      await readError(answer),
      redactCredential(sent),
    )
    return { status, models: null, error: `${reason} ${hintOf(status)}`.trim() }
  } catch (error) {
    if (error instanceof UpstreamFault)
      return { status: null, models: null, error: failureOfFault(error).reason }
    if (error instanceof Failure && error !== memoryUsedUp)
      return { status: 200, models: null, error: 'The response is not JSON. Does base_url end in /v1?' }
    throw error
  }
}

const NO_ACCESS = new Set([401, 403])
const NOT_SERVED = new Set([404, 405, 501])

/** The APIs whose paths do not answer that they are unknown. An empty request costs nothing. */
const servedApis = async (
  { gateway }: Pick<GatewayServices, 'gateway'>,
  upstream: Parameters<typeof addressOf>[0],
): Promise<readonly Api[]> => {
  const sent = await resolveCredential(gateway, upstream)
  if ('failure' in sent) return []
  const served = await Promise.all(
    Object.values(ENDPOINTS).map(async ({ api, path, form }) => {
      const answer = await gateway.upstreamClient
        .ask({
          url: addressOf(upstream, path, sent.query),
          headers: {
            'content-type': 'application/json',
            ...passedOn({}, '', form).headers,
            ...upstreamHeaders('application/json', sent, form),
          },
          body: '{}',
          timeouts: WITHIN,
          isGuarded: true,
          isFresh: true,
        })
        .catch(() => undefined)
      if (answer === undefined) return []
      await answer.body[Symbol.asyncIterator]().return?.()
      return NOT_SERVED.has(answer.status) ? [] : [api]
    }),
  )
  return served.flat()
}

const hintOf = (status: number): string => {
  if (status === 401 || status === 403) return 'Check the secret.'
  return status === 404 ? 'Check base_url, which usually ends in /v1; some upstreams do not list models.' : ''
}

const idsIn = (listed: Json): readonly string[] => {
  const data = isJsonObject(listed) ? listed['data'] : listed
  return (Array.isArray(data) ? (data as readonly Json[]) : []).flatMap((model) =>
    isJsonObject(model) && typeof model['id'] === 'string' ? [model['id']] : [],
  )
}
