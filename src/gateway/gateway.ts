import type { Log } from '../kernel/ports/log.js'
import type { InferenceMetrics } from '../kernel/ports/metrics.js'
import type { Ports } from '../kernel/ports/ports.js'
import type { UpstreamClient } from '../domain/gateway/upstreams/upstream-client.js'
import type { Upstream, Upstreams } from '../domain/gateway/upstreams/directory.js'
import type { Teams } from '../application/access/project-access.js'
import type { WritingPorts } from '../application/calls/write-calls.js'
import type { Reading } from '../application/reading/reading.js'
import type { Gate } from '../domain/gateway/limits/gate.js'
import type { LiveLedger } from './limits/live-ledger.js'
import type { Ends } from './completions/ends.js'
import type { KeepAlive } from './completions/keep-alive.js'
import type { Keeping } from './completions/keeping.js'
import type { ChosenRecordLevel } from './completions/record-level.js'
import type { Admit } from './limits/admission.js'
import type { LiveTargets } from './upstreams/live-targets.js'
import type { UnderWay } from './completions/under-way.js'

/** What the inference routes stand on. */
export interface Inference {
  readonly ports: WritingPorts & Pick<Ports, 'clock'>
  readonly teams: Teams
  readonly reading: Pick<Reading, 'ackPosition'>
  /** Stands in the name of the header that says which project a request is for, lower case. */
  readonly vendor: string
  readonly inference: {
    readonly live: LiveLedger
    readonly gate: Gate
    readonly admit: Admit
    readonly upstreamClient: UpstreamClient
    /** The upstreams as this process knows them. */
    readonly upstreams: () => Upstreams
    /** How their models do. */
    readonly targets: LiveTargets
    /** What an upstream is sent as its bearer; null for one that needs none. Fails where its secret has no value. */
    readonly credentialOf: (upstream: Upstream) => Promise<string | null>
    readonly log: Pick<Log, 'warn'>
    readonly keepAlive: KeepAlive
    readonly metrics: InferenceMetrics
    readonly recordLevel: ChosenRecordLevel
    readonly underWay: UnderWay
    readonly ends: Ends
    /** Keeps what streamed answers say until they are recorded. */
    readonly keeping: Keeping
    /** This process, in what it records. */
    readonly instance: string
  }
}
