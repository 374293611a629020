import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

/** One message as it came in. */
export interface Received {
  readonly method: string
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Counts the connections of the receiver from 0. */
  readonly connection: number
}

/** What a receiver does with a message once it has all of it; see behaviours.ts. */
export type Behaviour = (socket: Socket, received: Received) => void

export interface ReceiverOptions {
  /** A certificate makes it an HTTPS server. */
  readonly tls?: TlsOptions
  /** 127.0.0.1 where nothing is said. */
  readonly address?: string
  /** Any free one where nothing is said. */
  readonly port?: number
  /** What it does as soon as somebody connects, before anything was read. */
  readonly onConnection?: (socket: Socket) => void
}

export interface Receiver {
  /** `http://127.0.0.1:1234/`, or https. */
  readonly url: string
  readonly port: number
  /** Whole messages, in the order in which they came. */
  readonly received: readonly Received[]
  /** Every byte that came, of all connections in turn. */
  readonly bytes: () => Buffer
  /** Bytes that the other side has taken, over all connections. */
  readonly written: () => number
  /** How many connections there ever were, and how many there are now. */
  readonly connections: () => number
  readonly open: () => number
  /** From the next message on. */
  readonly behave: (behaviour: Behaviour) => void
  readonly stop: () => Promise<void>
}

/**
 * A receiver of webhooks on the loopback address, on bare sockets: it can break the protocol wherever it likes.
 * Connections are kept alive as long as the behaviour leaves them open.
 */
export const startReceiver = async (first: Behaviour, options: ReceiverOptions = {}): Promise<Receiver> => {
  const received: Received[] = []
  const log: Buffer[] = []
  const sockets = new Set<Socket>()
  let behaviour = first
  let connections = 0
  let writtenBefore = 0

  const onSocket = (socket: Socket): void => {
    const connection = connections
    connections += 1
    sockets.add(socket)
    let unread = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      writtenBefore += socket.bytesWritten
    })
    socket.on('data', (chunk: Buffer) => {
      log.push(chunk)
      unread = Buffer.concat([unread, chunk])
      for (let message = wholeMessage(unread); message !== undefined; message = wholeMessage(unread)) {
        unread = unread.subarray(message.length)
        const whole = { ...message.received, connection }
        received.push(whole)
        behaviour(socket, whole)
      }
    })
    options.onConnection?.(socket)
  }
  const server = options.tls === undefined ? createServer(onSocket) : createTlsServer(options.tls, onSocket)
  server.on('tlsClientError', () => undefined)
  const address = options.address ?? '127.0.0.1'
  server.listen(options.port ?? 0, address)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const host = address.includes(':') ? `[${address}]` : address
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${host}:${port}/`,
    port,
    received,
    bytes: () => Buffer.concat(log),
    written: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, writtenBefore),
    connections: () => connections,
    open: () => sockets.size,
    behave: (next) => void (behaviour = next),
    stop: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** The first message of what was read, once it is all there; bodies have a length. */
const wholeMessage = (
  bytes: Buffer,
): { readonly received: Omit<Received, 'connection'>; readonly length: number } | undefined => {
  const headEnds = bytes.indexOf('\r\n\r\n')
  if (headEnds < 0) return undefined
  const [request = '', ...lines] = bytes.subarray(0, headEnds).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const length = headEnds + 4 + Number(headers['content-length'] ?? 0)
  if (bytes.length < length) return undefined
  const [method = '', path = ''] = request.split(' ')
  return { received: { method, path, headers, body: bytes.subarray(headEnds + 4, length) }, length }
}
