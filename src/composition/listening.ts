import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { MostConnections } from './open-files.js'

export interface Listening {
  readonly address: string
  /** Takes no more connections and waits for the requests in flight. */
  readonly close: () => Promise<void>
}

/** A client that was busy for some seconds finds its connection open still, and a proxy lets go of it first. */
const KEEP_ALIVE_MS = 75_000

/** The message says where, why, and which setting is about it. */
class CannotListen extends Error {
  override readonly name = 'CannotListen'
}

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else listens there; stop it, or set TALLYTREE_PORT',
  EACCES: 'this user may not use the port; set TALLYTREE_PORT',
  EADDRNOTAVAIL: 'this machine has no such address; set TALLYTREE_HOST',
  ENOTFOUND: 'there is no such host; set TALLYTREE_HOST',
}

export const listen = async (
  handle: (...request: Parameters<RequestListener>) => unknown,
  { host, port }: { readonly host: string; readonly port: number },
  connections?: MostConnections,
): Promise<Listening> => {
  const server = createServer((...request) => void handle(...request))
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
      reject(new CannotListen(`cannot listen at ${host}:${port}: ${why}`))
    }
    server.once('error', refused)
    server.listen(port, host, () => {
      server.off('error', refused)
      resolve()
    })
  })
  return { address: addressOf(server), close: () => close(server) }
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
