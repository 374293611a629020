import { instantOf } from '../../kernel/codec/instant.js'
import type { Clock } from '../../kernel/ports/clock.js'
import type { ServedModel } from '../../domain/gateway/upstreams/content.js'
import type { Upstream } from '../../domain/gateway/upstreams/directory.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import type { LiveTargets } from '../../gateway/upstreams/live-targets.js'
import type { ModelHealth, ShownUpstream } from './upstream-codecs.js'

/** An upstream with how its models do here and now. */
export const shownUpstream =
  ({ gateway: { targets }, clock }: Pick<GatewayServices, 'clock' | 'gateway'>) =>
  (upstream: Upstream): ShownUpstream => {
    const { id, team, content, isConfigured = false } = upstream
    return {
      id,
      team,
      ...content,
      configured: isConfigured,
      health: {
        models: content.models.map((model) => healthOf(targets, clock, upstream, model)),
        reachable: content.probe ? targets.isReachable(id) : null,
      },
    }
  }

const STATES = { closed: 'in', open: 'out', probing: 'probing' } as const

const healthOf = (
  targets: LiveTargets,
  clock: Clock,
  upstream: Upstream,
  model: ServedModel,
): ModelHealth => {
  const { health, inFlight } = targets.standingOf({ upstream, model })
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
