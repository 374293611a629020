import { Readable } from 'node:stream'
import { completionRequest, type CompletionRequest } from '../../domain/completion/request.js'
import { CompletionStream } from '../../domain/completion/stream.js'
import { unknown, type Metered } from '../../domain/completion/usage.js'
import { meteredWhole, wholeAnswer } from '../../domain/completion/whole.js'
import { utf8Bytes } from '../../domain/codec/text.js'
import type { JsonObject } from '../../domain/json/json.js'
import { jsonObject } from '../../domain/codec/leaves.js'
import { UpstreamFault } from '../../domain/ports/upstream-client.js'
import { entityOf } from '../../domain/ids.js'
import { targetsOf } from '../../domain/upstream/offered.js'
import { Failure } from '../failure.js'
import { route, type Answer, type AnyRoute, type Asked } from '../route.js'
import { ask, NobodyAnswered, type Asked as AskedUpstream } from './asking.js'
import { attributedProject } from './attribution.js'
import type { Inference } from './inference.js'
import { noSuchModel, teamsOf } from './models.js'
import { readWhole } from './read-whole.js'
import { begin, type Recorded } from './recording.js'
import { clientGone, streamed } from './streamed.js'
import { badAnswer, failureOfFault } from './upstream-failure.js'

/** `POST /v1/chat/completions` (spec 4.2): one completion, whole or streamed, recorded as a call. */
export const completionRoutes = (inference: Inference): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'Has a model complete a chat; every key of the request is passed on to its upstream.',
    errors: 'chat',
    body: completionRequest,
    takes: [],
    answer: { schema: jsonObject.schema },
    handle: (asked) => complete(inference, asked),
  }),
]

const complete = async (inference: Inference, asked: Asked<CompletionRequest>): Promise<Answer> => {
  const { body: request, headers, principal, cause } = asked
  const { ports, teams, vendor } = inference
  const project = attributedProject(teams, vendor, headers, principal)
  const targets = targetsOf(
    inference.inference.upstreams(),
    teamsOf(principal),
    request.model,
    entityOf(project),
  )
  const [first] = targets
  if (first === undefined) throw noSuchModel()
  const gone = asked.gone()
  const startedAt = performance.now()
  const id = ports.ids.next()
  const promptBytes = utf8Bytes(JSON.stringify(request.given['messages']))
  const admission = inference.inference.admit({
    ...{ id, project, keyId: principal.keyId, request, promptBytes, targets },
  })
  const recording = begin(
    inference,
    {
      id,
      project,
      parentId: null,
      traceId: null,
      inputs: request.given,
      attributes: { ...admission.attributes, model: first.model.id },
    },
    first.model.id,
    principal,
    cause,
  )
  const call = await admission.begun(recording)
  const said = { startedAt, model: first.model.id }
  try {
    const answered = await ask(inference, request, targets, gone)
    return request.stream
      ? streamedAnswer(request, answered, call, { ...said, promptBytes })
      : await wholeOf(answered, call, { ...said, promptBytes })
  } catch (error) {
    if (!(error instanceof NobodyAnswered)) throw error
    const failure = error.isAborted ? clientGone : error.failure
    await call.end({
      output: null,
      metered: unknown,
      exception: failure.reason,
      said: { ...timesOf(said), tries: error.tries },
    })
    throw failure
  }
}

interface Said {
  readonly startedAt: number
  readonly model: string
  readonly promptBytes: number
}

const timesOf = ({ startedAt }: Pick<Said, 'startedAt'>): JsonObject => ({
  latency_ms: Math.round(performance.now() - startedAt),
})

const wholeOf = async (
  { answer, target, tries }: AskedUpstream,
  call: Recorded,
  said: Said,
): Promise<Answer> => {
  const kept = (): JsonObject => ({ ...timesOf(said), upstream: target.upstream.content.name, tries })
  const failing = async (failure: Failure, metered: Metered): Promise<never> => {
    await call.end({ output: null, metered, exception: failure.reason, said: kept() })
    throw failure
  }
  try {
    const value = await readWhole(answer.body)
    const body = wholeAnswer(value, said.model)
    if (body === undefined) return await failing(badAnswer('it has no choices'), unknown)
    const text = JSON.stringify(body)
    const position = await call.end({
      output: body,
      metered: meteredWhole(body, said.promptBytes, text.length),
      exception: null,
      said: kept(),
    })
    return { body: text, type: 'application/json', position }
  } catch (error) {
    if (error instanceof UpstreamFault) return failing(failureOfFault(error), unknown)
    throw error
  }
}

const streamedAnswer = (
  { n, stream_options }: CompletionRequest,
  { answer, target, tries }: AskedUpstream,
  call: Recorded,
  said: Said,
): Answer => {
  const stream = new CompletionStream({
    publicModel: said.model,
    n,
    includeUsage: stream_options?.include_usage === true,
    promptBytes: said.promptBytes,
  })
  let firstAt: number | undefined
  const events = streamed(
    answer,
    stream,
    () => (firstAt ??= performance.now()),
    async ({ failure }) => {
      await call.end({
        output: stream.answer.whole(said.model),
        metered: stream.metered,
        exception: failure?.reason ?? null,
        said: {
          ...timesOf(said),
          ...(firstAt === undefined ? {} : { time_to_first_token_ms: Math.round(firstAt - said.startedAt) }),
          upstream: target.upstream.content.name,
          tries,
        },
      })
    },
  )
  return {
    body: Readable.from(events),
    type: 'text/event-stream; charset=utf-8',
    headers: { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
    position: call.position,
  }
}
