import { Agent, request } from 'node:http'
import type { Answer } from '../support/described/answers.js'
import type { Ask } from './ask.js'

const TOO_LONG_MS = 30_000

/** Sends requests over connections that stay open. */
export const openConnections = (address: string, atOnce: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const { hostname, port } = new URL(address)

  const send = ({ method, path, headers, body }: Ask): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(body.length) }
      const all = { ...headers, ...length }
      const sent = request(
        { agent, hostname, port, method, path, headers: all, timeout: TOO_LONG_MS },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(chunks).toString('utf8'),
            }),
          )
        },
      )
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${TOO_LONG_MS} ms`)))
      sent.on('error', reject)
      sent.end(body)
    })

  return { send, close: () => agent.destroy() }
}
