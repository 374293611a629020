import { retry } from '../../../kernel/backoff.js'
import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import type { SharedConnection } from './connection.js'
import { BACKOFF, TimedOut, within } from './waiting.js'

/** How long a server may take to respond when the program starts. */
const START_MS = 5000

/** @throws StoreUnavailable if the server does not respond in time, with the reason, or lacks what appends need */
export const requireSupported = async (connection: SharedConnection, url: string): Promise<void> => {
  const server = `the EventStoreDB at ${hostsOf(url)} (EVENTSTORE_URL)`
  const until = performance.now() + START_MS
  let reason: unknown
  const { version, hasBatches } = await retry(
    () => within(connection.features(), Math.max(until - performance.now(), 1)),
    (cause) => {
      if (reason === undefined || !(cause instanceof TimedOut)) reason = cause
      if (performance.now() < until) return true
      throw new StoreUnavailable(`${server} does not respond: ${reasonOf(reason)}`, { cause: reason })
    },
    BACKOFF,
  )
  if (!hasBatches) throw new StoreUnavailable(`${server} has version ${version}, and 22.6 or later is needed`)
}

/** What to do about errors of gRPC and OpenSSL. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/wrong version number/, 'the server does not use TLS; set tls=false'],
  [/certificate/, 'name its authority with tlsCAFile, or GRPC_DEFAULT_SSL_ROOTS_FILE_PATH'],
  [/Failed to discover/, 'no host of the cluster responds; check names, ports and tls'],
  [/Failed to connect|Protocol error/, 'it is no gRPC server, or it uses TLS; then set tls=true'],
]

const reasonOf = (cause: unknown): string => {
  const { details, message } = cause as Error & { readonly details?: string }
  const text = (details ?? message)
    .replace(/^.*Last error: (?:Error: )?/s, '')
    .replace(/\.? Resolution note:.*$/s, '')
  const [, remedy] = REMEDIES.find(([pattern]) => pattern.test(text)) ?? []
  return remedy === undefined ? text : `${text.trim()} (${remedy})`
}

/** The hosts of a connection string, without the user and password. */
const hostsOf = (url: string): string => /^[^:]+:\/\/(?:[^@]*@)?([^/?]*)/.exec(url)?.[1] ?? ''
