import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import { withText } from '../../kernel/json/replace-member.js'
import { unknown, UsageReports, type ReportedTokens } from '../answer/usage.js'
import { chat } from './chat.js'
import type { Answer, AnswerOptions, Endpoint } from './endpoint.js'

/** An API whose answers are whole, and have no text of a model. */
interface ListApi {
  /** The member with the results. */
  readonly list: string
  /** What is recorded of a result. */
  readonly recorded: (result: Json) => Json
  readonly reported: ReportedTokens
}

const listAnswer =
  ({ list, recorded, reported }: ListApi) =>
  ({ publicModel, expected }: AnswerOptions): Answer => ({
    take: async () => ({ text: '', invalid: 'it is a stream of events' }),
    takeWhole: async () => ({ text: '' }),
    whole: (value, text) => {
      if (!isJsonObject(value) || !Array.isArray(value[list])) return undefined
      const reports = new UsageReports(expected, reported)
      reports.take(value, [])
      const model = 'model' in value ? { model: publicModel } : {}
      const results = (value[list] as readonly Json[]).map(recorded)
      const body = withDigitsOf(value, { ...value, ...model, [list]: results })
      return { body, text: withText(text, ['model'], publicModel), metered: reports.metered(0) }
    },
    missing: () => `it has no ${list}`,
    isAnswered: () => false,
    isDone: () => false,
    isComplete: () => false,
    parts: () => 0,
    contentAt: () => undefined,
    suspected: () => undefined,
    incomplete: () => `it has no ${list}`,
    metered: () => unknown,
    folded: () => null,
    release: () => undefined,
    end: '',
    failed: chat.failed,
  })

/** Vectors are of no use to a reader, and take megabytes. */
const withoutVector = (result: Json): Json => {
  if (!isJsonObject(result)) return result
  const { embedding, ...rest } = result
  const dimensions = Array.isArray(embedding)
    ? embedding.length
    : typeof embedding === 'string'
      ? Math.floor(Buffer.byteLength(embedding, 'base64') / Float32Array.BYTES_PER_ELEMENT)
      : null
  return { ...rest, dimensions }
}

const listEndpoint = (of: Pick<Endpoint, 'api' | 'opName' | 'path'>, api: ListApi): Endpoint => ({
  ...of,
  form: 'openai',
  asksForUsage: false,
  holdsHeadMs: Infinity,
  mostTokens: () => 0,
  changes: () => ({}),
  answer: listAnswer(api),
  failed: chat.failed,
})

export const embeddings = listEndpoint(
  { api: 'embeddings', opName: 'openai.embeddings.create', path: 'embeddings' },
  { list: 'data', recorded: withoutVector, reported: 'prompt' },
)

export const moderations = listEndpoint(
  { api: 'moderations', opName: 'openai.moderations.create', path: 'moderations' },
  { list: 'results', recorded: (result) => result, reported: 'optional' },
)

/** A search unit has up to 100 documents. Each part of a long one counts as a document. */
const [DOCUMENTS_PER_UNIT, TOKENS_PER_DOCUMENT] = [100, 500]

export const rerank: Endpoint = {
  ...listEndpoint(
    { api: 'rerank', opName: 'cohere.rerank', path: 'rerank' },
    { list: 'results', recorded: (result) => result, reported: 'optional' },
  ),
  mostSearches: ({ documents }, promptTokens) =>
    Math.ceil(
      ((Array.isArray(documents) ? documents.length : 0) + promptTokens / TOKENS_PER_DOCUMENT) /
        DOCUMENTS_PER_UNIT,
    ),
}
