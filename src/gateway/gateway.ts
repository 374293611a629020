import type { MemoryAccount } from '../kernel/memory-account.js'
import type { Log } from '../kernel/ports/log.js'
import type { GatewayMetrics } from '../kernel/ports/metrics.js'
import type { UpstreamClient } from '../domain/gateway/upstreams/upstream-client.js'
import type { Training } from '../application/training/services.js'
import type { Services } from '../application/services.js'
import type { Limiter } from '../domain/gateway/limits/limiter.js'
import type { LedgerFollower } from './limits/ledger-follower.js'
import type { AnswerCache } from './completions/answer-cache.js'
import type { CallEndWriter } from './completions/call-end-writer.js'
import type { KeepAlive } from './completions/keep-alive.js'
import type { Admit } from './limits/admission.js'
import type { UpstreamDirectory } from './upstreams/upstream-directory.js'
import type { CredentialsOf } from './upstreams/upstream-credentials.js'
import type { TargetStates } from './upstreams/target-states.js'
import type { InFlightCompletions } from './completions/in-flight.js'

/** The completions of this process, with their limits and upstreams. */
export interface Gateway {
  readonly ledgerFollower: LedgerFollower
  readonly limiter: Limiter
  readonly admit: Admit
  readonly upstreamClient: UpstreamClient
  readonly upstreams: UpstreamDirectory
  /** Health and load of their models. */
  readonly targets: TargetStates
  readonly credentialsOf: CredentialsOf
  /** Ids of upstreams that refused `stream_options`. */
  readonly withoutStreamOptions: Set<string>
  readonly log: Pick<Log, 'warn'>
  readonly keepAlive: KeepAlive
  readonly metrics: GatewayMetrics
  readonly inFlight: InFlightCompletions
  readonly callEnds: CallEndWriter
  readonly answers: AnswerCache
  /** For completions of the service itself. Those of clients use the memory of their request. */
  readonly memory: MemoryAccount
  /** The id of this process in recorded calls. */
  readonly instance: string
}

export interface GatewayServices extends Services {
  readonly gateway: Gateway
  readonly training: Training
}
