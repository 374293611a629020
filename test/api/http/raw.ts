import { request, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { ADMINISTRATOR_KEY, type TestService } from '../../support/service.js'

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends bytes as they are; nothing is added but the key. */
export const sendBytes = (
  { address }: TestService,
  path: string,
  body: Uint8Array,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const sent = request(
      `${address}${path}`,
      {
        method,
        headers: {
          authorization: `Bearer ${ADMINISTRATOR_KEY}`,
          // Node sends the body of a DELETE without it.
          ...(method === 'DELETE' ? { 'content-length': body.length } : {}),
          ...headers,
        },
      },
      (response) => {
        const { statusCode: status = 0, headers: received } = response
        resolve(
          buffer(response).then((bytes) => ({ status, headers: received, text: bytes.toString('utf8') })),
        )
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })

export const JSON_TYPE = { 'content-type': 'application/json' }

/** Writes text to a connection, closes the sending half if told, and answers all that comes back. */
export const sendText = ({ address }: TestService, text: string, thenClose = true): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(address)
    const socket = connect(Number(port), hostname, () => {
      socket.write(text)
      if (thenClose) socket.end()
    })
    let received = ''
    socket.on('data', (chunk) => (received += chunk.toString('latin1')))
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
