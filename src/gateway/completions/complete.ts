import type { Ports } from '../../kernel/ports/ports.js'
import { promptTokensOf } from '../answer/prompt.js'
import type { CompletionRequest } from '../answer/request.js'
import { unknown } from '../answer/usage.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { entityOf } from '../../kernel/ids.js'
import { targetsOf, type Target } from '../../domain/gateway/upstreams/offered.js'
import { Failure } from '../../application/failure.js'
import type { IncomingHttpHeaders } from 'node:http'
import type { OnDisconnect } from '../../application/on-disconnect.js'
import type { Principal } from '../../application/principal.js'
import type { Cause } from '../../kernel/event.js'
import { ask, NobodyAnswered, type Answering, type Asked } from './asking.js'
import { attributedProject } from './attribution.js'
import type { Admission } from '../limits/admission.js'
import type { Completing, CompletionResponse } from './completing.js'
import type { GatewayServices } from '../gateway.js'
import { projectOfTrained, trainedTargets } from '../trained/trained-targets.js'
import { noSuchModel, teamsOf } from '../models.js'
import { placedBy } from './parent.js'
import { recordLevelOf } from './record-level.js'
import { begin, endingOnce, type Recorded } from './recording.js'
import { beginStream, streamAnswer, streamOf } from './streaming.js'
import type { Leave } from './under-way.js'
import { failureIn } from './upstream-failure.js'
import { readCompletion, wholeOf } from './whole.js'

export interface AskedCompletion {
  readonly body: CompletionRequest
  readonly headers: IncomingHttpHeaders
  readonly principal: Principal
  readonly cause: Cause
  readonly onDisconnect: OnDisconnect
}

/** One completion, whole or streamed, recorded as a call. */
export const complete = async (
  services: Pick<GatewayServices, keyof Ports | 'access' | 'reading' | 'vendor' | 'gateway' | 'training'>,
  asked: AskedCompletion,
): Promise<CompletionResponse> => {
  const { body: request, headers, principal } = asked
  const { upstreams, underWay } = services.gateway
  const canSee = (entity: string) => services.access.canAccessTeam(principal, entity)
  const offered = (name: string, team: string) => targetsOf(upstreams.now(), teamsOf(principal), name, team)
  const trained = await trainedTargets(services, request.model, { canSee, offered })
  const ofTrained = trained.length > 0 ? projectOfTrained(request.model) : undefined
  const project = attributedProject(services, headers, principal, ofTrained)
  const named = offered(request.model, entityOf(project))
  const targets = named.length === 0 ? trained : named
  const [first] = targets
  if (first === undefined) throw noSuchModel()
  const leave = underWay.enter(asked.onDisconnect)
  const startedAt = performance.now()
  try {
    const { id, headers: rates, ...begun } = await recorded(services, asked, project, targets)
    const response = await answered(services, request, targets, { leave, startedAt, ...begun })
    return { ...response, headers: { ...response.headers, ...rates, 'tallytree-call-id': id } }
  } catch (error) {
    leave.over()
    throw error
  }
}

/** Admits the request and records it as a call of its project; nothing is asked of an upstream before. */
const recorded = async (
  services: Pick<GatewayServices, keyof Ports | 'access' | 'reading' | 'gateway'>,
  { body: request, headers, principal, cause }: AskedCompletion,
  project: string,
  targets: readonly Target[],
): Promise<
  Pick<Begun, 'call' | 'promptTokens'> & { readonly id: string; readonly headers: Admission['headers'] }
> => {
  const model = targets[0]!.model.id
  const id = services.ids.next()
  const placed = await placedBy(services, project, headers)
  const level = await recordLevelOf(services.gateway.recordLevel, project, headers)
  const promptTokens = promptTokensOf(request.given)
  const admission = services.gateway.admit({
    id,
    project,
    keyId: principal.keyId,
    request,
    promptTokens,
    targets,
  })
  const call = await begin(
    services,
    { inputs: request.given, attributes: { model, ...admission.attributes }, id, project, level, ...placed },
    model,
    principal,
    cause,
    admission,
  )
  return { id, call: endingOnce(call), promptTokens, headers: admission.headers }
}

interface Begun {
  readonly call: Recorded
  readonly promptTokens: number
  readonly leave: Leave
  readonly startedAt: number
}

/** Asks upstreams for the answer; however that goes, the call is ended, once. */
const answered = async (
  services: Pick<GatewayServices, 'gateway'>,
  request: CompletionRequest,
  targets: readonly Target[],
  { call, promptTokens, leave, startedAt }: Begun,
): Promise<CompletionResponse> => {
  let way: JsonObject = {}
  const said = () => ({ latency_ms: Math.round(performance.now() - startedAt), ...way })
  const from = async <Begun, A>(
    begin: (answering: Answering) => Promise<Begun>,
    answerOf: (asked: Asked<Begun>, completing: Completing) => A,
  ): Promise<Awaited<A>> => {
    try {
      const asked = await ask(services, request, targets, leave.signal, call.keepsContent, begin)
      const { target, tries } = asked
      way = { upstream: target.upstream.content.name, price: target.model.price, tries }
      return await answerOf(asked, { call, promptTokens, leave, startedAt, said })
    } catch (error) {
      if (error instanceof NobodyAnswered)
        way = { tries: error.tries, ...(error.isOwed ? {} : { owed: false }) }
      const failure = failureIn(error instanceof NobodyAnswered ? error.failure : error, leave.signal)
      await call.end({ output: null, metered: unknown, failure: failure ?? unforeseen, said: said() })
      leave.over()
      throw failure ?? error
    }
  }
  if (request.stream) {
    const asking = { promptTokens, isRecorded: call.keepsContent }
    return streamAnswer(
      (closeAnswer) =>
        from(
          (answering) => beginStream(services.gateway, request, answering, asking),
          (asked, completing) => streamOf(asked, completing, closeAnswer),
        ),
      services.gateway.keepAlive,
      call.position,
    )
  }
  const whole = await from(
    (answering) => readCompletion(answering, answering.target.model.id),
    ({ begun }, completing) => wholeOf(begun, completing),
  )
  leave.over()
  return whole
}

const unforeseen = new Failure('overloaded', 'Internal server error')
