import type { Log } from '../kernel/ports/log.js'
import type { GatewayMetrics } from '../kernel/ports/metrics.js'
import type { UpstreamClient } from '../domain/gateway/upstreams/upstream-client.js'
import type { Training } from '../application/training/training.js'
import type { Services } from '../application/services.js'
import type { Limiter } from '../domain/gateway/limits/limiter.js'
import type { LedgerFollower } from './limits/ledger-follower.js'
import type { AnswerRoom } from './answer/answer-room.js'
import type { Ends } from './completions/ends.js'
import type { KeepAlive } from './completions/keep-alive.js'
import type { ChosenRecordLevel } from './completions/record-level.js'
import type { Admit } from './limits/admission.js'
import type { LiveUpstreams } from './upstreams/live-upstreams.js'
import type { CredentialsOf } from './upstreams/upstream-credentials.js'
import type { LiveTargets } from './upstreams/live-targets.js'
import type { UnderWay } from './completions/under-way.js'

/** The completions of this process, with their limits and upstreams. */
export interface Gateway {
  readonly ledgerFollower: LedgerFollower
  readonly limiter: Limiter
  readonly admit: Admit
  readonly upstreamClient: UpstreamClient
  readonly upstreams: LiveUpstreams
  /** How their models do. */
  readonly targets: LiveTargets
  readonly credentialsOf: CredentialsOf
  /** Upstreams that refused `stream_options`, since this process runs. */
  readonly withoutStreamOptions: Set<string>
  readonly log: Pick<Log, 'warn'>
  readonly keepAlive: KeepAlive
  readonly metrics: GatewayMetrics
  readonly recordLevel: ChosenRecordLevel
  readonly underWay: UnderWay
  readonly ends: Ends
  /** Memory for the record of a streamed answer. */
  readonly answerRoom: () => AnswerRoom
  /** This process, in what it records. */
  readonly instance: string
}

export interface GatewayServices extends Services {
  readonly gateway: Gateway
  readonly training: Training
}
