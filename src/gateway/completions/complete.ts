import type { IncomingHttpHeaders } from 'node:http'
import type { MemoryLease } from '../../kernel/memory-account.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Cause } from '../../kernel/event.js'
import { entityOf } from '../../kernel/ids.js'
import type { Api } from '../../domain/gateway/upstreams/apis.js'
import { targetsOf, type Target } from '../../domain/gateway/upstreams/offered.js'
import type { OnDisconnect } from '../../application/on-disconnect.js'
import type { Principal } from '../../application/principal.js'
import { promptTokensOf } from '../answer/prompt.js'
import { RequestText } from '../answer/request-text.js'
import { costText, expectedUsage } from '../answer/usage.js'
import type { EndpointRequest } from '../endpoints/endpoint.js'
import type { Gateway, GatewayServices } from '../gateway.js'
import { noSuchModel, teamsOf } from '../models.js'
import { projectOfTrained, trainedTargets } from '../training/trained-targets.js'
import { messages } from '../translation/messages.js'
import { responses } from '../translation/responses.js'
import type { Translation } from '../translation/translation.js'
import { cacheKeyOf } from './answer-cache.js'
import { cachedResponse } from './cached-response.js'
import { recordStart } from './call-record.js'
import {
  forwardOrFinish,
  keepAnswer,
  servedBy,
  type CompletionContext,
  type CompletionResponse,
} from './completion-context.js'
import { openWhole } from './open-whole.js'
import { passedOn, projectFromHeaders, requestSettings, traceContext } from './request-context.js'
import { servingOf } from './serving.js'
import { sessionOf } from './session.js'
import { streamResponse } from './stream-answer.js'

export interface ClientRequest {
  readonly request: EndpointRequest
  /** With its query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly principal: Principal
  readonly cause: Cause
  readonly onDisconnect: OnDisconnect
  readonly memory: MemoryLease
}

export type CompletionServices = Pick<
  GatewayServices,
  keyof Ports | 'access' | 'reading' | 'vendor' | 'gateway' | 'training'
>

/** One request to a model, with a whole or a streamed answer, recorded as a call. */
export const complete = async (
  services: CompletionServices,
  { request, url, headers, principal, cause, onDisconnect, memory }: ClientRequest,
): Promise<CompletionResponse> => {
  const { gateway } = services
  const { project, targets: offered } = await resolveTargets(services, request.model, headers, principal)
  const inFlight = gateway.inFlight.start(onDisconnect)
  try {
    const id = services.ids.next()
    const text = await RequestText.of(request.given)
    const serving = await servingOf(request, text, offered, TRANSLATIONS[request.endpoint.api], {
      id,
      now: services.clock.now(),
    })
    const { targets } = serving
    const trace = await traceContext(services, project, headers)
    const { level, cacheSeconds } = await requestSettings(services, project, headers)
    const prompt = promptTokensOf(request.given, text)
    const session = sessionOf(headers, request.given, prompt.estimate)
    const { keyId } = principal
    const model = targets[0]!.model.id
    const cacheKey =
      cacheSeconds === 0 || level !== 'all'
        ? undefined
        : cacheKeyOf(request, project, model, text.whole.bytes, headers)
    const cached = cacheKey === undefined ? undefined : gateway.answers.find(cacheKey, cacheSeconds)
    const permit =
      cached === undefined ? gateway.admit({ id, project, keyId, request, prompt, targets }) : FREE
    const call = await recordStart(services, {
      ...{ id, project, ...trace, level, given: request.given, text, model, principal, cause, permit },
      opName: request.endpoint.opName,
      threadId: session.threadId ?? null,
    })
    if (cached !== undefined) {
      const response = await cachedResponse(request, cached, model, call)
      inFlight.done()
      return { ...response, headers: { ...response.headers, 'tallytree-call-id': id } }
    }
    const completion = {
      ...{ request, serving, targets, call, inFlight, memory, cacheKey },
      affinityKey: session.affinityKey,
      expected: expectedUsage(prompt, request.endpoint.mostTokens(request.given)),
      passedOn: passedOn(headers, url, serving.sent.endpoint.form),
      requestId: cause.correlationId,
    }
    const response = await (request.stream ? streamResponse : wholeResponse)(gateway, completion)
    return { ...response, headers: { ...response.headers, ...permit.headers, 'tallytree-call-id': id } }
  } catch (error) {
    inFlight.done()
    throw error
  }
}

/** An answer that was given before takes nothing of a limit. */
const FREE = { attributes: {}, headers: {}, cancel: () => undefined, settle: () => undefined }

/** APIs that upstreams can serve which speak chat completions only. */
const TRANSLATIONS: Readonly<Partial<Record<Api, Translation>>> = { messages, responses }

/** The project of a request, and the targets that offer the model to it. */
export const resolveTargets = async (
  services: CompletionServices,
  model: string,
  headers: IncomingHttpHeaders,
  principal: Principal,
): Promise<{ readonly project: string; readonly targets: readonly Target[] }> => {
  const canSee = (named: string) => services.access.canAccessProject(principal, named)
  const offered = (name: string, team: string) =>
    targetsOf(services.gateway.upstreams.all(), teamsOf(principal), name, team)
  const trained = await trainedTargets(services, model, { canSee, offered })
  const trainedProject = trained.length > 0 ? projectOfTrained(model) : undefined
  const project = projectFromHeaders(services, headers, principal, trainedProject)
  const named = offered(model, entityOf(project))
  const targets = named.length > 0 ? named : trained
  if (targets.length === 0) throw noSuchModel()
  return { project, targets }
}

/** The call is recorded before the client gets the answer. */
const wholeResponse = async (
  gateway: Gateway,
  completion: CompletionContext,
): Promise<CompletionResponse> => {
  const { call, inFlight } = completion
  const forwarded = await forwardOrFinish(gateway, completion, (response) => openWhole(completion, response))
  const { body, text, metered } = forwarded.opened
  const position = await call.finish({
    output: body,
    metered,
    failure: null,
    summary: servedBy(forwarded, completion),
  })
  inFlight.done()
  const cost = costText(forwarded.target.model.price, metered.usage)
  keepAnswer(gateway, completion, { body, text, metered, cost })
  return {
    body: text,
    type: 'application/json',
    headers: cost === undefined ? {} : { 'tallytree-cost': cost },
    position,
  }
}
