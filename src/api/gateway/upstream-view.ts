import { instantOf } from '../../kernel/codec/instant.js'
import type { Clock } from '../../kernel/ports/clock.js'
import { withoutCredentials } from '../../domain/secrets/credentials.js'
import type { ServedModel } from '../../domain/gateway/upstreams/content.js'
import type { Upstream } from '../../domain/gateway/upstreams/directory.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import type { TargetStates } from '../../gateway/upstreams/target-states.js'
import type { ModelHealth, UpstreamView } from './upstream-codecs.js'

/** An upstream with the health of its models in this process. */
export const upstreamView =
  ({ gateway: { targets }, clock }: Pick<GatewayServices, 'clock' | 'gateway'>) =>
  (upstream: Upstream): UpstreamView => {
    const { id, team, content, isConfigured = false } = upstream
    return {
      id,
      team,
      ...content,
      headers: withoutCredentials(content.headers),
      query: withoutCredentials(content.query),
      configured: isConfigured,
      health: { models: content.models.map((model) => healthOf(targets, clock, upstream, model)) },
    }
  }

const STATES = { closed: 'in', open: 'out', probing: 'probing' } as const

const healthOf = (
  targets: TargetStates,
  clock: Clock,
  upstream: Upstream,
  model: ServedModel,
): ModelHealth => {
  const { health, inFlight } = targets.stateOf({ upstream, model })
  return {
    model: model.id,
    state: STATES[health.phase],
    faults_in_a_row: health.failuresInARow,
    in_flight: inFlight,
    out_until:
      health.phase === 'closed'
        ? null
        : instantOf(new Date(clock.now().getTime() + targets.untilThen(health.until))),
  }
}
