import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import type { AddressInfo } from 'node:net'
import type { Log } from '../../kernel/ports/log.js'

export interface HttpServer {
  readonly address: string
  /** Accepts no more connections and waits for the requests in flight. */
  readonly close: () => Promise<void>
}

/** Longer than the usual idle timeout of proxies (60 s), so that a proxy closes its connection first. */
const KEEP_ALIVE_MS = 75_000

interface BodyLimits {
  /** Most bodies must arrive within this time. */
  readonly bodyMs: number
  /** Uploads may take longer, but at most this long without data: 100 MiB at 1 Mbit/s take 14 minutes. */
  readonly uploadSilenceMs: number
  /** After `bodyMs`, uploads are cut if they were slower than this on average. */
  readonly uploadBytesPerS: number
}

const BODY_LIMITS: BodyLimits = { bodyMs: 300_000, uploadSilenceMs: 60_000, uploadBytesPerS: 8192 }

const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is already in use; stop the other program or set TALLYTREE_PORT',
  EACCES: 'permission denied; set TALLYTREE_PORT to a port that this user may use',
  EADDRNOTAVAIL: 'this machine does not have the address; set TALLYTREE_HOST',
  ENOTFOUND: 'the host name does not resolve; set TALLYTREE_HOST',
}

export const listen = async (
  handle: (...request: Parameters<RequestListener>) => unknown,
  { host, port }: { readonly host: string; readonly port: number },
  connections?: ConnectionLimit,
  limits = BODY_LIMITS,
): Promise<HttpServer> => {
  const server = createServer((request, response) => {
    // A busy connection is never idle, so a stop would last until it is cut.
    response.shouldKeepAlive &&= server.listening
    limitBody(request, response, limits)
    void handle(request, response)
  })
  // Node has one timeout for all requests. `limitBody` gives uploads more time.
  server.requestTimeout = 0
  server.keepAliveTimeout = KEEP_ALIVE_MS
  if (connections !== undefined) {
    server.maxConnections = connections.maximum
    server.on('drop', connections.onRefused)
  }
  // Without this, Node answers an unknown `Expect` header itself, without a body.
  server.on('checkExpectation', (...request: Parameters<RequestListener>) => void handle(...request))
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const why = LISTEN_ERRORS[error.code ?? ''] ?? `${error.message}; set TALLYTREE_HOST or TALLYTREE_PORT`
      reject(new OperatorError(`cannot listen at ${host}:${port}: ${why}`))
    }
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
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
  const [startedAt, before] = [performance.now(), socket.bytesRead]
  let received = before
  const cutIfSlow = () => {
    const ms = performance.now() - startedAt
    const isSlow = ms >= limits.bodyMs && (socket.bytesRead - before) * 1000 < ms * limits.uploadBytesPerS
    if (socket.bytesRead === received || isSlow || response.writableFinished) cut()
    received = socket.bytesRead
  }
  const isForm = headers['content-type']?.toLowerCase().startsWith('multipart/form-data') === true
  const isUpload = isForm || request.url?.startsWith('/api/content/') === true
  const timer = isUpload ? setInterval(cutIfSlow, limits.uploadSilenceMs) : setTimeout(cut, limits.bodyMs)
  const stop = () => clearTimeout(timer)
  request.once('end', stop).once('close', stop)
}

const addressOf = (server: Server): string => {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Requests in flight get this long before their connections are cut. */
export const FINISH_WITHIN_MS = 8000
const CLOSE_IDLE_EVERY_MS = 50

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), FINISH_WITHIN_MS)
    // A connection becomes idle when its request ends.
    const closeIdle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
    server.close(() => {
      clearTimeout(cut)
      clearInterval(closeIdle)
      resolve()
    })
    server.closeIdleConnections()
  })

/** Reserved for stores, webhooks and upstreams. With a low limit, clients get a quarter. */
const RESERVED = 256

export interface ConnectionLimit {
  readonly maximum: number
  /** Called for each connection closed because of the limit. */
  readonly onRefused: () => void
}

const LOG_EVERY_MS = 60_000

/**
 * The limit of client connections under a limit of open files. Without it, clients could use up all files: the system
 * then closes connections without telling this process, and the stores cannot open files.
 */
export const connectionLimit = (
  files: number | undefined,
  log: Pick<Log, 'warn'>,
  now = () => performance.now(),
): ConnectionLimit | undefined => {
  if (files === undefined || files === Infinity) return undefined
  const maximum = Math.max(files - RESERVED, Math.floor(files / 4))
  let [refused, loggedAt] = [0, -Infinity]
  return {
    maximum,
    onRefused: () => {
      refused += 1
      if (now() - loggedAt < LOG_EVERY_MS) return
      const should = 'close client connections, or raise the limit of open files (ulimit -n)'
      log.warn('connections.refused', { refused, most_connections: maximum, most_open_files: files, should })
      ;[refused, loggedAt] = [0, now()]
    },
  }
}
