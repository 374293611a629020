import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { OperatorError } from '../domain/ports/operator-error.js'
import type { AddressInfo } from 'node:net'
import type { MostConnections } from './open-files.js'

export interface Listening {
  readonly address: string
  /** Takes no more connections and waits for the requests in flight. */
  readonly close: () => Promise<void>
}

/** A client that was busy for some seconds finds its connection open still, and a proxy lets go of it first. */
const KEEP_ALIVE_MS = 75_000

interface BodyLimits {
  /** Most bodies must arrive within this time. */
  readonly bodyMs: number
  /** An upload may take any time, but not be silent for longer than this: 100 MiB at 1 Mbit/s take 14 minutes. */
  readonly uploadSilenceMs: number
}

const BODY_LIMITS: BodyLimits = { bodyMs: 300_000, uploadSilenceMs: 60_000 }

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is already in use; stop the other program or set TALLYTREE_PORT',
  EACCES: 'permission denied; set TALLYTREE_PORT to a port that this user may use',
  EADDRNOTAVAIL: 'this machine does not have the address; set TALLYTREE_HOST',
  ENOTFOUND: 'the host name does not resolve; set TALLYTREE_HOST',
}

export const listen = async (
  handle: (...request: Parameters<RequestListener>) => unknown,
  { host, port }: { readonly host: string; readonly port: number },
  connections?: MostConnections,
  limits = BODY_LIMITS,
): Promise<Listening> => {
  const server = createServer((...request) => {
    limitBody(...request, limits)
    void handle(...request)
  })
  // Node's limit of the whole request cannot tell uploads from other bodies: `limitBody` replaces it.
  server.requestTimeout = 0
  server.keepAliveTimeout = KEEP_ALIVE_MS
  if (connections !== undefined) {
    server.maxConnections = connections.most
    server.on('drop', connections.refused)
  }
  // An expectation that nobody knows would be answered without a body, by the server itself.
  server.on('checkExpectation', (...request: Parameters<RequestListener>) => void handle(...request))
  await new Promise<void>((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => {
      const why = WHY[error.code ?? ''] ?? `${error.message}; set TALLYTREE_HOST or TALLYTREE_PORT`
      reject(new OperatorError(`cannot listen at ${host}:${port}: ${why}`))
    }
    server.once('error', refused)
    server.listen(port, host, () => {
      server.off('error', refused)
      resolve()
    })
  })
  return { address: addressOf(server), close: () => close(server) }
}

const limitBody = (request: IncomingMessage, response: ServerResponse, limits: BodyLimits): void => {
  const { headers, socket } = request
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
  const cut = () => {
    if (!response.headersSent && socket.writable)
      socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n')
    socket.destroy()
  }
  let received = socket.bytesRead
  const cutIfSilent = () => {
    if (socket.bytesRead === received || response.writableFinished) cut()
    received = socket.bytesRead
  }
  const isUpload = headers['content-type']?.toLowerCase().startsWith('multipart/form-data') === true
  const timer = isUpload ? setInterval(cutIfSilent, limits.uploadSilenceMs) : setTimeout(cut, limits.bodyMs)
  const stop = () => clearTimeout(timer)
  request.once('end', stop).once('close', stop)
}

const addressOf = (server: Server): string => {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Requests in flight get this long before their connections are cut. */
const FINISH_WITHIN_MS = 8000
const LET_GO_EVERY_MS = 50

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), FINISH_WITHIN_MS)
    // A connection whose request ends later is idle only then.
    const letGo = setInterval(() => server.closeIdleConnections(), LET_GO_EVERY_MS)
    server.close(() => {
      clearTimeout(cut)
      clearInterval(letGo)
      resolve()
    })
    server.closeIdleConnections()
  })
