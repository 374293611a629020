import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Agent, request } from 'undici'
import { backoff } from '../../kernel/backoff.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'

/** What a collector answered in the end. Without a status it could not be reached. */
interface CollectorAnswer {
  readonly status: number | undefined
  /** Of a partial success. */
  readonly rejected: number
  readonly message: string
}

export interface OtlpSender {
  /** Sends an `ExportTraceServiceRequest` as JSON. Repeats it while the collector is busy or away. */
  readonly send: (request: string) => Promise<CollectorAnswer>
  readonly close: () => Promise<void>
}

interface OtlpSenderOptions {
  /** The path `/v1/traces` may be left out. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly tries: number
  readonly signal?: AbortSignal
}

const ANSWER_MS = 60_000
const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 60_000

/** Answers after which OTLP wants a request to be repeated. */
const REPEATED: ReadonlySet<number | undefined> = new Set([429, 502, 503, 504, undefined])

export const otlpSender = ({ url, headers = {}, tries, signal }: OtlpSenderOptions): OtlpSender => {
  const to = new URL(url)
  if (to.pathname === '/') to.pathname = '/v1/traces'
  const dispatcher = new Agent({ connections: 1 })
  const sent = { ...headers, 'content-type': 'application/json', 'content-encoding': 'gzip' }

  const sendOnce = async (body: Buffer) => {
    const limits = [AbortSignal.timeout(ANSWER_MS), ...(signal === undefined ? [] : [signal])]
    try {
      const answer = await request(to, {
        method: 'POST',
        headers: sent,
        body,
        dispatcher,
        signal: AbortSignal.any(limits),
      })
      const text = await answer.body.text()
      return { status: answer.statusCode, waitMs: waitIn(answer.headers['retry-after']), ...meaningOf(text) }
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException
      return { status: undefined, waitMs: undefined, rejected: 0, message: code === '' ? message : code }
    }
  }

  return {
    send: async (text) => {
      const body = await promisify(gzip)(text)
      for (let tried = 1; ; tried += 1) {
        const { waitMs, ...answer } = await sendOnce(body)
        if (!REPEATED.has(answer.status) || tried === tries || signal?.aborted === true) return answer
        if (waitMs === undefined)
          await backoff(tried, { firstMs: FIRST_WAIT_MS, maxMs: LONGEST_WAIT_MS, ...(signal && { signal }) })
        else await sleep(waitMs, undefined, { signal }).catch(() => undefined)
      }
    },
    close: () => dispatcher.close(),
  }
}

const LONGEST_ASKED_MS = 600_000

/** Of a `Retry-After`, seconds or a date. */
const waitIn = (given: string | readonly string[] | undefined): number | undefined => {
  const text = String(given ?? '')
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_ASKED_MS)
}

/** Of an `ExportTraceServiceResponse`, or of the `Status` of a refusal. */
const meaningOf = (text: string): Pick<CollectorAnswer, 'rejected' | 'message'> => {
  const answer = parsed(text)
  const partial = isJsonObject(answer['partialSuccess']) ? answer['partialSuccess'] : answer
  const { rejectedSpans: rejected = 0, errorMessage = partial['message'] } = partial
  const message = typeof errorMessage === 'string' ? errorMessage : ''
  return { rejected: Number(rejected), message: message.slice(0, 1000) }
}

const parsed = (text: string): JsonObject => {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : {}
  } catch {
    return { message: text }
  }
}
