import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface AnsweringServer {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** An HTTP server that answers as it is told; what it is asked has been read to its end. */
export const startAnsweringServer = async (
  answer: (asked: IncomingMessage, answer: ServerResponse) => void,
): Promise<AnsweringServer> => {
  const server = createServer((asked, answering) => {
    asked.resume()
    asked.on('error', () => undefined)
    asked.on('end', () => answer(asked, answering))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
