import { promptTokensOf } from '../../gateway/answer/prompt.js'
import { completionRequest, type CompletionRequest } from '../../gateway/answer/request.js'
import { unknown } from '../../gateway/answer/usage.js'
import { jsonObject } from '../../kernel/codec/leaves.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { entityOf } from '../../kernel/ids.js'
import { targetsOf, type Target } from '../../domain/gateway/upstreams/offered.js'
import { Failure } from '../../application/failure.js'
import type { AnyRoute, RouteRequest, RouteResponse } from '../server/route.js'
import { ask, NobodyAnswered, type Asked as UpstreamAsked } from '../../gateway/completions/asking.js'
import { attributedProject } from '../../gateway/completions/attribution.js'
import type { Completing } from '../../gateway/completions/completing.js'
import type { Inference } from '../../gateway/gateway.js'
import { noSuchModel, teamsOf } from './models.js'
import { atHand } from '../../gateway/completions/output.js'
import { placedBy } from '../../gateway/completions/parent.js'
import { recordLevelOf } from '../../gateway/completions/record-level.js'
import { begin, endingOnce, type Recorded } from '../../gateway/completions/recording.js'
import { streamAnswer, streamOf } from '../../gateway/completions/streaming.js'
import type { Leave } from '../../gateway/completions/under-way.js'
import { failureIn } from '../../gateway/completions/upstream-failure.js'
import { wholeOf } from '../../gateway/completions/whole.js'

/** `POST /v1/chat/completions`: one completion, whole or streamed, recorded as a call. */
export const completionRoutes = (inference: Inference): readonly AnyRoute[] => [
  {
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'Creates a chat completion. All keys of the request are forwarded to the upstream.',
    errorFormat: 'chat',
    body: completionRequest,
    requestHeaders: [
      'Vendor-Project',
      'OpenAI-Project',
      'Tallytree-Parent-Call',
      'Tallytree-Trace',
      'traceparent',
      'Tallytree-Record',
    ],
    response: {
      schema: jsonObject.schema,
      alternatives: {
        'text/event-stream': {
          type: 'string',
          description: 'With `stream`: one event per chunk, then `[DONE]`.',
        },
      },
    },
    responseHeaders: ['Tallytree-Position'],
    handle: (asked: RouteRequest<CompletionRequest>) => complete(inference, asked),
  },
]

export type AskedCompletion = Pick<
  RouteRequest<CompletionRequest>,
  'body' | 'headers' | 'principal' | 'cause' | 'onDisconnect'
>

export const complete = async (inference: Inference, asked: AskedCompletion): Promise<RouteResponse> => {
  const { body: request, headers, principal } = asked
  const { upstreams, underWay } = inference.inference
  const project = attributedProject(inference.teams, inference.vendor, headers, principal)
  const targets = targetsOf(upstreams(), teamsOf(principal), request.model, entityOf(project))
  const [first] = targets
  if (first === undefined) throw noSuchModel()
  const leave = underWay.enter(asked.onDisconnect)
  const startedAt = performance.now()
  try {
    const begun = await recorded(inference, asked, project, targets)
    return await answered(inference, request, targets, { leave, startedAt, ...begun })
  } catch (error) {
    leave.over()
    throw error
  }
}

/** Admits the request and records it as a call of its project; nothing is asked of an upstream before. */
const recorded = async (
  inference: Inference,
  { body: request, headers, principal, cause }: AskedCompletion,
  project: string,
  targets: readonly Target[],
): Promise<Pick<Begun, 'call' | 'promptTokens'>> => {
  const { ports } = inference
  const model = targets[0]!.model.id
  const id = ports.ids.next()
  const placed = placedBy(headers)
  const level = await recordLevelOf(inference.inference.recordLevel, project, headers)
  const promptTokens = promptTokensOf(request.given)
  const admission = inference.inference.admit({
    id,
    project,
    keyId: principal.keyId,
    request,
    promptTokens,
    targets,
  })
  const recording = begin(
    inference,
    { inputs: request.given, attributes: { model, ...admission.attributes }, id, project, level, ...placed },
    model,
    principal,
    cause,
  )
  return { call: endingOnce(await admission.begun(recording)), promptTokens }
}

interface Begun {
  readonly call: Recorded
  readonly promptTokens: number
  readonly leave: Leave
  readonly startedAt: number
}

/** Asks upstreams for the answer; however that goes, the call is ended, once. */
const answered = async (
  inference: Inference,
  request: CompletionRequest,
  targets: readonly Target[],
  { call, promptTokens, leave, startedAt }: Begun,
): Promise<RouteResponse> => {
  let way: JsonObject = {}
  const said = () => ({ latency_ms: Math.round(performance.now() - startedAt), ...way })
  const from = async <A>(
    answerOf: (asked: UpstreamAsked, completing: Completing) => A,
  ): Promise<Awaited<A>> => {
    try {
      const asked = await ask(inference, request, targets, leave.signal, call.keepsContent)
      const { target, tries } = asked
      way = { upstream: target.upstream.content.name, price: target.model.price, tries }
      const model = target.model.id
      return await answerOf(asked, { model, call, promptTokens, leave, startedAt, said })
    } catch (error) {
      if (error instanceof NobodyAnswered)
        way = { tries: error.tries, ...(error.isOwed ? {} : { owed: false }) }
      const failure = failureIn(error instanceof NobodyAnswered ? error.failure : error, leave.signal)
      await call.end({ output: atHand(null), metered: unknown, failure: failure ?? unforeseen, said: said() })
      leave.over()
      throw failure ?? error
    }
  }
  if (request.stream)
    return streamAnswer(
      (closeAnswer) =>
        from((asked, completing) => streamOf(inference, request, asked, completing, closeAnswer)),
      inference.inference.keepAlive,
      call.position,
    )
  const whole = await from(wholeOf)
  leave.over()
  return whole
}

const unforeseen = new Failure('overloaded', 'Internal server error')
