import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../../src/kernel/json/json.js'

/** A request as it reached the upstream. */
export interface Arrival {
  /** The path with the query. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: JsonObject
  /** The body as it came. */
  readonly text: string
  /** Whether the gateway left before the answer was whole. */
  readonly left: Promise<boolean>
}

export type Behaviour = (body: JsonObject, response: ServerResponse, request: IncomingMessage) => unknown

export interface ScriptedUpstream {
  /** Ends in `/v1`. */
  readonly baseUrl: string
  readonly arrivals: readonly Arrival[]
  /** How it answers from here on. */
  behave: (behaviour: Behaviour) => void
  /** Closes the connections that carry no request. */
  readonly closeIdle: () => void
  readonly close: () => Promise<void>
}

/** An upstream on loopback, a real server, that does what a test tells it. */
export const startUpstream = async (first: Behaviour): Promise<ScriptedUpstream> => {
  const arrivals: Arrival[] = []
  let behaviour = first
  const server = createServer((request, response) => {
    void readBody(request).then((text) => {
      const body = text === '' ? {} : (JSON.parse(text) as JsonObject)
      const left = once(response, 'close').then(() => !response.writableFinished)
      arrivals.push({ url: request.url!, headers: request.headers, body, text, left })
      return behaviour(body, response, request)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    arrivals,
    behave: (next) => (behaviour = next),
    closeIdle: () => server.closeIdleConnections(),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8')
}
