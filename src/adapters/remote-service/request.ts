import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { SourceUnusable } from '../../domain/ports/log-source.js'

/** Asks one service with one key; answers what it says, whatever the status. */
export type Ask = (path: string, method?: 'GET' | 'POST', json?: string) => Promise<IncomingMessage>

export const asking = (url: string, apiKey: string): Ask => {
  const base = new URL(url)
  const request = base.protocol === 'https:' ? requestHttps : requestHttp
  const authorization = `Bearer ${apiKey}`
  return (path, method = 'GET', json) =>
    new Promise((resolve, reject) => {
      const headers =
        json === undefined ? { authorization } : { authorization, 'content-type': 'application/json' }
      const place = new URL(`${base.pathname.replace(/\/$/, '')}${path}`, base)
      request(place, { headers, method }, resolve)
        .on('error', (cause: Error) =>
          reject(new SourceUnusable(`${base.origin} cannot be reached: ${cause.message}`, { cause })),
        )
        .end(json)
    })
}

const TRIES = 60
const WAIT_MS = 1000

/** Asks again while the service says that it is not possible now; any other refusal is the operator's to mend. */
export const askPatiently = async (ask: Ask, path: string): Promise<IncomingMessage> => {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask(path)
    const { statusCode = 0 } = answer
    if (statusCode === 200 || statusCode === 404) return answer
    const said = (await textOf(answer)).slice(0, 500)
    if (statusCode !== 503 || tries === TRIES)
      throw new SourceUnusable(`the service answered ${statusCode} to ${path.split('?')[0]!}: ${said}`)
    await sleep(WAIT_MS)
  }
}

export const textOf = async (answer: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
