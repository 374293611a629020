import { randomInt } from 'node:crypto'
import {
  UpstreamFault,
  type UpstreamAnswer,
  type UpstreamClient,
  type UpstreamEnd,
  type UpstreamRequest,
} from '../../domain/gateway/upstreams/upstream-client.js'
import { Failure } from '../../application/failure.js'
import type { Engine } from '../../engine/engine.js'
import type { SampledChoiceToken } from '../../engine/protocol.js'
import type { TokenLogprob } from '../../engine/sample.js'
import { END_OF_TEXT, tokenText } from '../../engine/tokens.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import { BlobMissing } from '../../kernel/ports/blobs.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { choiceText, type ChoiceText } from './choice-text.js'
import { EngineRequestInvalid } from './engine-options.js'
import { engineRequestIn, type EngineRequest } from './engine-request.js'
import { ENGINE_ADDRESS, modelIn } from './trained-targets.js'

type EnginePorts = Pick<Ports, 'blobs' | 'ids' | 'clock'>

/** Answers requests to the engine of the service as an upstream would, and passes on the others. */
export const withEngine = (ports: EnginePorts, engine: Engine, others: UpstreamClient): UpstreamClient => ({
  ask: (request, signal) =>
    request.url.startsWith(ENGINE_ADDRESS)
      ? answerOf(ports, engine, request, signal)
      : others.ask(request, signal),
  close: () => others.close(),
})

const encoded = (text: string): Uint8Array => new TextEncoder().encode(text)

const answerOf = async (
  ports: EnginePorts,
  engine: Engine,
  { body }: UpstreamRequest,
  signal: AbortSignal | undefined,
): Promise<UpstreamAnswer> => {
  const given = parseJson(body ?? 'null')
  const left = new AbortController()
  const either = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal])
  try {
    const request = engineRequestIn(isJsonObject(given) ? given : {}, () => randomInt(2 ** 31))
    const sampled = engine.sample(sampleOf(ports, request), either)[Symbol.asyncIterator]()
    // A request that cannot be sampled fails before the answer begins.
    const first = await sampled.next()
    const tokens = (async function* () {
      try {
        if (first.done !== true) yield first.value
        for (let next = await sampled.next(); next.done !== true; next = await sampled.next())
          yield next.value
      } finally {
        left.abort()
      }
    })()
    const head = {
      id: `chatcmpl-${ports.ids.next()}`,
      created: Math.floor(ports.clock.now().getTime() / 1000),
    }
    return request.stream
      ? answering(200, 'text/event-stream', streamed(head, request, tokens), either, left)
      : answering(200, 'application/json', whole(head, request, tokens), either, left)
  } catch (error) {
    left.abort()
    const refusal = signal?.aborted === true ? undefined : refusalOf(error)
    if (refusal === undefined) throw failureOf(error, signal?.aborted === true)
    return answering(400, 'application/json', [encoded(jsonText(refusal))], either, left)
  }
}

const refusalOf = (error: unknown): JsonObject | undefined => {
  if (!(error instanceof Error)) return undefined
  const refused = (param: string | null, code: string | null): JsonObject => ({
    error: { message: error.message, type: 'invalid_request_error', param, code },
  })
  if (error instanceof EngineRequestInvalid) return refused(error.param, null)
  return error.name === 'PromptTooLong' ? refused('messages', 'context_length_exceeded') : undefined
}

/** Errors of the engine, and whether a repeat would fail too. */
const ENGINE_ERRORS: Readonly<Record<string, boolean>> = {
  TrainingDiverged: true,
  CheckpointInvalid: true,
  EngineCrashed: false,
  EngineStopped: false,
}

const failureOf = (error: unknown, isAborted: boolean): Failure | UpstreamFault => {
  const isFinal = error instanceof Error ? ENGINE_ERRORS[error.name] : undefined
  if (!isAborted && error instanceof Error && isFinal !== undefined)
    return new Failure('upstream-failed', error.message, { code: 'upstream_error', isFinal })
  return new UpstreamFault(isAborted ? 'aborted' : 'reset', 'engine', { cause: error })
}

const sampleOf = ({ blobs }: EnginePorts, { model, prompt, options, choices }: EngineRequest) => {
  const sampled = modelIn(model)
  const load = async (digest: string) => {
    const content = await blobs.get(digest)
    if (content === undefined) throw new BlobMissing(digest)
    return content
  }
  const rest = { prompt, options, choices }
  if ('baseModel' in sampled) return { ...rest, checkpoint: null, baseModel: sampled.baseModel }
  const { blob } = sampled
  return { ...rest, checkpoint: { key: blob, load: () => load(blob) }, baseModel: '' }
}

const answering = (
  status: number,
  type: string,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  signal: AbortSignal,
  left: AbortController,
): UpstreamAnswer => {
  let end: (how: UpstreamEnd) => void = () => undefined
  const ended = new Promise<UpstreamEnd>((resolve) => (end = resolve))
  const read = async function* () {
    let isComplete = false
    try {
      yield* body
      isComplete = true
    } catch (error) {
      const failure = failureOf(error, signal.aborted)
      end(failure instanceof UpstreamFault ? failure : new UpstreamFault('reset', 'engine'))
      throw failure
    } finally {
      end(isComplete ? 'complete' : 'left')
    }
  }
  const giveUp = () => left.abort()
  // Without time-outs: the engine is a part of this process.
  return { status, headers: { 'content-type': type }, sentAt: Infinity, body: read(), ended, giveUp }
}

interface Head {
  readonly id: string
  readonly created: number
}

interface Choice {
  readonly text: ChoiceText
  readonly tokens: number[]
  readonly logprobs: JsonObject[]
  content: string
  /** Tokens that come after a stop text are not part of the choice. */
  finish: 'stop' | null
}

const choicesOf = ({ choices, stop }: EngineRequest): readonly Choice[] =>
  Array.from({ length: choices }, () => ({
    text: choiceText(stop),
    tokens: [],
    logprobs: [],
    content: '',
    finish: null,
  }))

/** Adds a token. Returns the text that is now sure; undefined for a token after the end of the choice. */
const take = (choice: Choice, sampled: SampledChoiceToken, tokensAsIds: boolean): string | undefined => {
  if (choice.finish !== null) return undefined
  const { token, top = [] } = sampled
  const shown = ({ token, logprob }: TokenLogprob): JsonObject => ({
    token: tokensAsIds ? `token_id:${token}` : tokenText(token),
    logprob,
    bytes: token < 256 ? [token] : [],
  })
  choice.tokens.push(token)
  choice.logprobs.push({ ...shown(sampled), top_logprobs: top.map(shown) })
  const text = token === END_OF_TEXT ? choice.text.end() : choice.text.add(token)
  if (token === END_OF_TEXT || choice.text.isStopped()) choice.finish = 'stop'
  choice.content += text
  return text
}

const usageOf = ({ prompt }: EngineRequest, choices: readonly Choice[]): JsonObject => {
  const completion_tokens = choices.reduce((sum, { tokens }) => sum + tokens.length, 0)
  return { prompt_tokens: prompt.length, completion_tokens, total_tokens: prompt.length + completion_tokens }
}

async function* whole(
  head: Head,
  request: EngineRequest,
  tokens: AsyncIterable<SampledChoiceToken>,
): AsyncGenerator<Uint8Array> {
  const choices = choicesOf(request)
  for await (const sampled of tokens) {
    take(choices[sampled.choice]!, sampled, request.tokensAsIds)
    if (choices.every(({ finish }) => finish !== null)) break
  }
  for (const choice of choices) if (choice.finish === null) choice.content += choice.text.end()
  const { prompt } = request
  yield encoded(
    jsonText({
      ...head,
      object: 'chat.completion',
      model: request.model,
      choices: choices.map(({ content, logprobs, tokens: token_ids, finish }, index) => ({
        index,
        message: { role: 'assistant', content, refusal: null },
        logprobs: { content: logprobs, refusal: null },
        finish_reason: finish ?? 'length',
        token_ids,
        prompt_token_ids: prompt,
      })),
      prompt_token_ids: prompt,
      usage: usageOf(request, choices),
    }),
  )
}

async function* streamed(
  head: Head,
  request: EngineRequest,
  tokens: AsyncIterable<SampledChoiceToken>,
): AsyncGenerator<Uint8Array> {
  const choices = choicesOf(request)
  const event = (choice: JsonObject | null, more: JsonObject = {}): Uint8Array =>
    encoded(
      `data: ${jsonText({
        ...head,
        object: 'chat.completion.chunk',
        model: request.model,
        choices: choice === null ? [] : [choice],
        ...more,
      })}\n\n`,
    )
  for (const index of choices.keys())
    yield event(
      { index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null },
      { prompt_token_ids: request.prompt },
    )
  for await (const sampled of tokens) {
    const { choice: index, token } = sampled
    const choice = choices[index]!
    const text = take(choice, sampled, request.tokensAsIds)
    if (text === undefined) continue
    yield event({
      index,
      delta: { content: text },
      logprobs: { content: [choice.logprobs.at(-1)!], refusal: null },
      token_ids: [token],
      finish_reason: null,
    })
    if (choices.every(({ finish }) => finish !== null)) break
  }
  for (const [index, { finish, text }] of choices.entries())
    yield event({
      index,
      delta: finish === null ? { content: text.end() } : {},
      logprobs: null,
      finish_reason: finish ?? 'length',
    })
  yield event(null, { usage: usageOf(request, choices) })
  yield encoded('data: [DONE]\n\n')
}
