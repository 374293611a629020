import type { Cause } from '../kernel/event.js'
import type { Log } from '../kernel/ports/log.js'
import type { InferenceMetrics } from '../kernel/ports/metrics.js'
import type { Ports } from '../kernel/ports/ports.js'
import type { SecretStore } from '../kernel/ports/secret-store.js'
import type { UpstreamClient } from '../domain/gateway/upstreams/upstream-client.js'
import type { Upstream, Upstreams } from '../domain/gateway/upstreams/directory.js'
import type { Access } from '../application/access/access.js'
import type { Tracing } from '../api/calls/tracing.js'
import type { Ends } from './completions/ends.js'
import type { KeepAlive } from './completions/keep-alive.js'
import type { Keeping } from './completions/keeping.js'
import type { ChosenRecordLevel } from './completions/record-level.js'
import type { Admit } from './limits/admission.js'
import type { Limiting } from '../api/gateway/limits.js'
import type { LiveTargets } from './upstreams/live-targets.js'
import type { LiveUpstreams } from './upstreams/live-upstreams.js'
import type { UnderWay } from './completions/under-way.js'
import type { ShownUpstream } from '../api/gateway/upstream-codecs.js'

/** What the inference routes stand on. */
export interface Inference extends Omit<Tracing, 'throttle'> {
  readonly ports: Tracing['ports'] & Pick<Ports, 'clock'>
  /** Stands in the name of the header that says which project a request is for, lower case. */
  readonly vendor: string
  readonly inference: Limiting['inference'] & {
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

export interface UpstreamManaging {
  readonly ports: Pick<Ports, 'ids' | 'sha256' | 'eventStore'> & {
    readonly secrets: Pick<SecretStore, 'get'>
  }
  readonly access: Pick<Access, 'directory'>
  readonly liveUpstreams: LiveUpstreams
  /** An upstream as its managers see it, with how it does. */
  readonly shownUpstream: (upstream: Upstream) => ShownUpstream
  /** Makes what the upstreams of an owner cost the prices of their models. */
  readonly publishPrices: (team: string | null, cause: Cause) => Promise<void>
}
