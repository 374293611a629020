import type { MemoryLease } from '../../kernel/memory-account.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { DEFAULT_APIS, type Api } from '../../domain/gateway/upstreams/apis.js'
import type { Target } from '../../domain/gateway/upstreams/offered.js'
import type { UpstreamAnswer } from '../../domain/gateway/upstreams/upstream-client.js'
import { Failure } from '../../application/failure.js'
import { FAILED_EVENT, reportsError } from '../answer/reported-error.js'
import { RequestText } from '../answer/request-text.js'
import { writtenBytes } from '../answer/usage.js'
import { isReason } from '../answer/whole-answer.js'
import { chat } from '../endpoints/chat.js'
import type { EndpointRequest, UpstreamEvent } from '../endpoints/endpoint.js'
import type { AnswerTranslator, TranslatedEvent, Translation } from '../translation/translation.js'
import { parsed } from './read-answer.js'
import { eventReader, holdingIn, type EventReader } from './read-events.js'

/** How upstreams serve a request: in its own API, or translated to chat completions. */
export interface Serving {
  readonly targets: readonly Target[]
  /** What the upstream is sent. */
  readonly sent: EndpointRequest
  readonly text: RequestText
  /** For the answer of an upstream; null where it speaks the API of the request. */
  readonly translate: (() => AnswerTranslator) | null
  /** Fields that the translation leaves out. */
  readonly dropped: readonly string[]
}

export const speaks =
  (api: Api) =>
  ({ upstream: { content } }: Target): boolean =>
    (content.apis ?? DEFAULT_APIS).includes(api)

/**
 * Upstreams that speak the API of the request are preferred to all others, because a translation loses what only its own
 * provider can read, such as signatures.
 *
 * @throws Failure if no upstream of the model can serve it
 */
export const servingOf = async (
  request: EndpointRequest,
  text: RequestText,
  targets: readonly Target[],
  translation: Translation | undefined,
  { id, now }: { readonly id: string; readonly now: Date },
): Promise<Serving> => {
  const { endpoint, given } = request
  const native = targets.filter(speaks(endpoint.api))
  if (native.length > 0) return { targets: native, sent: request, text, translate: null, dropped: [] }
  const others = targets.filter(speaks('chat'))
  if (translation === undefined || others.length === 0) throw notSpoken(endpoint.path)
  const lenient = others.filter(({ upstream }) => upstream.content.drop_untranslatable)
  const translated = translatedBy(translation, given, lenient.length > 0)
  const sent = { ...request, endpoint: chat, given: translated.given }
  return {
    targets: translated.isStrict ? others : lenient,
    sent,
    text: await RequestText.of(translated.given),
    translate: () => translation.answer({ given, id, createdAt: Math.floor(now.getTime() / 1000) }),
    dropped: translated.dropped,
  }
}

const translatedBy = ({ request }: Translation, given: JsonObject, mayDrop: boolean) => {
  try {
    return { ...request(given, { mayDrop: false }), isStrict: true }
  } catch (error) {
    if (!mayDrop || !(error instanceof Failure)) throw error
    return { ...request(given, { mayDrop: true }), isStrict: false }
  }
}

const notSpoken = (path: string): Failure =>
  new Failure(
    'bad-request',
    `No upstream of the model serves /v1/${path}. An administrator adds the API to \`apis\` of an upstream.`,
    { param: 'model', code: 'unsupported_api', isFinal: true },
  )

/** The events of an upstream's answer in the API of the request. */
export const readerOf = (
  { translate }: Pick<Serving, 'translate'>,
  { answer, target }: { readonly answer: UpstreamAnswer; readonly target: Target },
  memory: Pick<MemoryLease, 'grow' | 'shrink'>,
): EventReader => {
  const reader = eventReader(answer, target.upstream.content.timeouts, memory)
  return translate === null ? reader : translated(reader, translate(), holdingIn(memory))
}

const translated = (
  reader: EventReader,
  translator: AnswerTranslator,
  hold: (characters: number) => void,
): EventReader => {
  let [hasReason, hasText, isOver] = [false, false, false]
  const end = (): readonly UpstreamEvent[] => {
    if (isOver) return []
    isOver = true
    return translator.end().map(upstreamEvent)
  }
  /** Some upstreams end a stream after the finish reason. */
  const endOfStream = () => (hasReason ? end() : [])
  const translateOne = async (event: UpstreamEvent): Promise<readonly UpstreamEvent[]> => {
    if (/^"?\[DONE\]"?$/i.test(event.data.trim())) return hasReason || hasText ? end() : []
    const value = event.value ?? (await parsed(event.data))
    const isError = event.event !== undefined && FAILED_EVENT.test(event.event)
    if (isError || (value !== undefined && reportsError(value) === 'yes'))
      return [{ ...event, event: 'error', ...(value === undefined ? {} : { value }) }]
    if (!isJsonObject(value)) return []
    if (isWholeCompletion(value)) {
      const whole = translator.whole(value)
      return [{ data: jsonText(whole), value: whole }]
    }
    const choices = choicesIn(value)
    hasReason ||= choices.some(({ finish_reason }) => isReason(finish_reason))
    hasText ||= choices.some(({ delta }) => isJsonObject(delta) && writtenBytes(delta) > 0)
    const events = translator.chunk(value).map(upstreamEvent)
    hold(translator.held())
    return events
  }
  return {
    ...reader,
    next: async () => {
      const events = await reader.next().catch((error: unknown) => {
        const last = endOfStream()
        if (last.length === 0) throw error
        return last
      })
      if (events === undefined) {
        const last = endOfStream()
        return last.length === 0 ? undefined : last
      }
      const all: UpstreamEvent[] = []
      for (const event of events) all.push(...(await translateOne(event)))
      return all
    },
    withoutEvents: async () => {
      const read = await reader.withoutEvents()
      if (!isJsonObject(read.value) || !isWholeCompletion(read.value) || reportsError(read.value) === 'yes')
        return read
      const value = translator.whole(read.value)
      return { value, text: jsonText(value) }
    },
    close: () => {
      hold(0)
      reader.close()
    },
  }
}

const upstreamEvent = ({ event, value }: TranslatedEvent): UpstreamEvent => ({
  event,
  data: jsonText(value),
  value,
})

const choicesIn = ({ choices }: JsonObject): readonly JsonObject[] =>
  Array.isArray(choices) ? (choices as readonly Json[]).filter(isJsonObject) : []

const isWholeCompletion = (value: JsonObject): boolean => isJsonObject(choicesIn(value)[0]?.['message'])
