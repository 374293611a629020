import type { Socket } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import type { AddressRule, SendError } from '../../../kernel/ports/webhook-sender.js'
import type { AddressRules } from './address-rules.js'
import { connectToAny, type Dial } from './connect-to-any.js'
import type { Resolve } from './resolve.js'
import type { RequestProgress } from './request-progress.js'
import type { Target } from './target.js'

export interface Connecting {
  readonly rules: AddressRules
  readonly resolve: Resolve
  readonly dial: Dial
  readonly secureContext: SecureContext
}

/** A connection to the target, or a rejection, whose reason is in `progress`. */
export type GuardedConnect = (target: Target, progress: RequestProgress) => Promise<Socket>

/**
 * Resolves the host once, refuses it unless all addresses are allowed, connects only to these, and checks the address of
 * the connection again. This prevents DNS rebinding.
 */
export const guardedConnect =
  ({ rules, resolve, dial, secureContext }: Connecting): GuardedConnect =>
  async (target, progress) => {
    const failed = failing(progress)
    const refuse = (rule: AddressRule): never => {
      const kind = target.isLiteral ? 'forbidden-address' : 'forbidden-name'
      return failed(() => ({ kind, rule }))(new Error('refused'))
    }

    let addresses: readonly string[] = [target.host]
    if (!target.isLiteral) {
      progress.enter('dns')
      addresses = await resolve(target.host, progress.signal).catch(failed(unresolved))
      progress.leave()
    }
    for (const address of addresses) {
      const rule = rules.refusalOfAddress(target, address)
      if (rule !== undefined) return refuse(rule)
    }

    progress.enter('connect')
    const tcp = await connectToAny(addresses, target.port, dial, progress.signal).catch(
      failed((code) => ({ kind: 'connect', code })),
    )
    progress.leave()
    const rule = rules.refusalOfAddress(target, tcp.remoteAddress ?? '')
    if (rule !== undefined) {
      tcp.destroy()
      return refuse(rule)
    }
    progress.peer = tcp.remoteAddress ?? null
    if (!target.isSecure) return tcp

    progress.enter('tls')
    const socket = await secured(tcp, target, secureContext, progress.signal).catch(
      failed((code) => ({ kind: 'tls', code })),
    )
    progress.leave()
    return socket
  }

const failing =
  (progress: RequestProgress) =>
  (errorOf: (code: string) => SendError) =>
  (cause: unknown): never => {
    progress.end(errorOf((cause as NodeJS.ErrnoException).code ?? 'UNKNOWN'))
    throw cause
  }

const unresolved = (code: string): SendError =>
  code === 'ETIMEOUT' ? { kind: 'timeout', phase: 'dns' } : { kind: 'dns', code }

const secured = (
  tcp: Socket,
  { host, isLiteral }: Target,
  secureContext: SecureContext,
  signal: AbortSignal,
) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connectTls({
      socket: tcp,
      host,
      ...(isLiteral ? {} : { servername: host }),
      secureContext,
      // Said here, because an environment variable can turn it off where nothing is said.
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
    })
    const leave = () => signal.removeEventListener('abort', abort)
    const abort = () => {
      leave()
      socket.destroy()
      reject(new Error('aborted'))
    }
    signal.addEventListener('abort', abort)
    socket.once('secureConnect', () => {
      leave()
      resolve(socket)
    })
    // Stays until the request has its own: a failure in between is then not unheard.
    socket.on('error', (error: Error) => {
      leave()
      reject(error)
    })
  })
