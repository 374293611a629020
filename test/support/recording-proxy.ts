import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Certified } from './self-signed.js'

/** A request as a client sent it, and the status of its answer; 0 where none came. */
export interface Exchange {
  readonly path: string
  readonly body: string
  readonly status: number
}

/** Stands between a client and the service, and notes what goes through, in the order in which it was answered. */
export interface RecordingProxy {
  readonly address: string
  readonly exchanges: readonly Exchange[]
  readonly stop: () => Promise<void>
}

/** Starts a proxy in front of the service at an address; it speaks https where it has a certificate. */
export const startRecordingProxy = async (
  service: string,
  certified?: Certified,
): Promise<RecordingProxy> => {
  const exchanges: Exchange[] = []
  const agent = new Agent({ keepAlive: true })

  const pass = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const body = await buffer(asked)
    const path = asked.url!
    const note = (status: number) =>
      void exchanges.push({ path: path.split('?')[0]!, body: body.toString('utf8'), status })
    const passed = request(new URL(path, service), { agent, method: asked.method!, headers: asked.headers })
    passed.on('error', () => {
      note(0)
      answer.destroy()
    })
    passed.on('response', (answered) => {
      note(answered.statusCode!)
      answer.writeHead(answered.statusCode!, answered.rawHeaders)
      answered.pipe(answer).on('error', () => passed.destroy())
    })
    passed.end(body)
  }

  const listener = (asked: IncomingMessage, answer: ServerResponse) =>
    void pass(asked, answer).catch(() => answer.destroy())
  const server = certified === undefined ? createServer(listener) : createTlsServer(certified, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `${certified === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      agent.destroy()
      await once(server, 'close')
    },
  }
}

/** How often each path was answered with what: `{'200 /obj/create': 3}`. */
export const statusesOf = (exchanges: readonly Exchange[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { path, status } of exchanges)
    counts[`${status} ${path}`] = (counts[`${status} ${path}`] ?? 0) + 1
  return counts
}
