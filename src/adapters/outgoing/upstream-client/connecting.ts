import { createSecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import { addressRules, type Listening } from '../guard/address-rules.js'
import { dialling, type Dial } from '../guard/connect-to-any.js'
import { guardedConnect } from '../guard/guarded-connect.js'
import { resolving, type NameSources } from '../guard/resolve.js'
import { RequestProgress } from '../guard/request-progress.js'
import { targetOf } from '../guard/target.js'
import { faultOfConnecting } from './faults.js'

/** However long a request would wait, its connection comes about within this time or not at all. */
const MOST_CONNECT_MS = 60_000

export interface Guarding {
  /** Private networks that may be reached, as `10.0.0.0/8`. */
  readonly cidrs?: readonly string[]
  /** Where this service itself listens, once it does. */
  readonly listening?: () => Listening | undefined
  readonly names?: NameSources
  readonly dial?: Dial
  /** Certificates of authorities to trust in place of the usual ones, PEM. */
  readonly certificateAuthorities?: string
}

/** Begins a connection, and answers how to give it up while it is being made: nothing of it is left then. */
export type Connector = (
  asked: buildConnector.Options,
  done: buildConnector.Callback,
) => (() => void) | undefined

/** Connections to addresses that a stranger may have chosen: looked at on the way that webhooks go. */
export const guardedConnector = (
  { cidrs = [], listening, names, dial = dialling, certificateAuthorities: ca }: Guarding,
  closing: AbortSignal,
): Connector => {
  const rules = addressRules({ cidrs, hosts: [] }, listening)
  const secureContext = createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) })
  const connect = guardedConnect({ rules, resolve: resolving(names), dial, secureContext })
  return ({ protocol, host, hostname, port }, done) => {
    const target = targetOf(`${protocol}//${host ?? `${hostname}:${port}`}`)
    const rule = target === undefined ? 'url' : rules.refusalOfPort(target)
    if (target === undefined || rule !== undefined) {
      done(faultOfConnecting({ kind: 'forbidden-address', rule: rule ?? 'url' }, undefined), null)
      return undefined
    }
    const progress = new RequestProgress(MOST_CONNECT_MS, LIMITS, closing)
    connect(target, progress)
      .finally(() => progress.finish())
      .then(
        (socket) => done(null, socket),
        (error: unknown) => done(faultOfConnecting(progress.error, error), null),
      )
    return () => progress.end({ kind: 'aborted' })
  }
}

const LIMITS = { dns: MOST_CONNECT_MS, connect: MOST_CONNECT_MS, tls: MOST_CONNECT_MS, head: MOST_CONNECT_MS }

/** Connections to addresses that the operator chose; names mean what they mean to the system. */
export const trustedConnector =
  ({ certificateAuthorities: ca }: Guarding): Connector =>
  (asked, done) => {
    const giving = new AbortController()
    const options = { timeout: MOST_CONNECT_MS, signal: giving.signal, ...(ca === undefined ? {} : { ca }) }
    buildConnector(options)(asked, done)
    return () => giving.abort()
  }
