import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface AnsweringServer {
  readonly url: string
  /** What is to be told the body of each request, in the order in which they end. */
  readonly onBody: (note: (body: string) => void) => void
  readonly stop: () => Promise<void>
}

/** An HTTP server that answers as it is told; what it is asked has been read to its end. */
export const startAnsweringServer = async (
  answer: (asked: IncomingMessage, answer: ServerResponse) => void,
): Promise<AnsweringServer> => {
  let note: (body: string) => void = () => undefined
  const server = createServer((asked, answering) => {
    let body = ''
    asked.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')))
    asked.on('error', () => undefined)
    asked.on('end', () => {
      note(body)
      answer(asked, answering)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    onBody: (given) => void (note = given),
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
