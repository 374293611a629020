import { request as requestHttp, type IncomingMessage } from 'node:http'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import { request as requestHttps } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

export const requireApiKey = (apiKey: string | null, whose = "the administrator's key"): string => {
  if (apiKey === null)
    throw new OperatorError(`TALLYTREE_API_KEY must be set to ${whose} for requests to a running service`)
  return apiKey
}

/** Sends a request to the service and returns the response with any status. Fails with OperatorError. */
export type Ask = (path: string, method?: 'GET' | 'POST', json?: string) => Promise<IncomingMessage>

const SILENCE_MS = 15_000

/** Requests fail after `silenceMs` without data, before or during the response. */
export const asking = (url: string, apiKey: string, silenceMs = SILENCE_MS): Ask => {
  const base = new URL(url)
  const request = base.protocol === 'https:' ? requestHttps : requestHttp
  const authorization = `Bearer ${apiKey}`
  return (path, method = 'GET', json) =>
    new Promise((resolve, reject) => {
      const headers =
        json === undefined ? { authorization } : { authorization, 'content-type': 'application/json' }
      const place = new URL(`${base.pathname.replace(/\/$/, '')}${path}`, base)
      let answer: IncomingMessage | undefined
      const asked = request(place, { headers, method, timeout: silenceMs }, (begun) => {
        answer = begun
        resolve(begun)
      })
      asked.on('timeout', () => {
        // With unread data buffered, the reader is slow, not the service.
        if (answer !== undefined && answer.readableLength > 0) asked.setTimeout(silenceMs)
        else (answer ?? asked).destroy(new ServiceSilent(base.origin, silenceMs))
      })
      asked.on('error', (cause: Error) =>
        reject(
          cause instanceof ServiceSilent
            ? cause
            : new OperatorError(`${base.origin} cannot be reached: ${cause.message}`, { cause }),
        ),
      )
      asked.end(json)
    })
}

export class ServiceSilent extends OperatorError {
  constructor(origin: string, silenceMs: number) {
    super(
      `${origin} accepts connections but did not answer within ${silenceMs / 1000} s: ` +
        'check that Tallytree listens there, and restart it if it does not respond',
    )
  }
}

const TRIES = 60
const WAIT_MS = 1000

/** Retries on 503. Other errors are for the operator to fix. */
export const askPatiently = async (ask: Ask, path: string): Promise<IncomingMessage> => {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask(path)
    const { statusCode = 0 } = answer
    if (statusCode === 200 || statusCode === 404) return answer
    const said = (await textOf(answer)).slice(0, 500)
    if (statusCode !== 503 || tries === TRIES)
      throw new OperatorError(`the service answered ${statusCode} to ${path.split('?')[0]!}: ${said}`)
    await sleep(WAIT_MS)
  }
}

export const textOf = async (answer: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
