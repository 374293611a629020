import { instantOf } from '../../../domain/codec/instant.js'
import type { Clock } from '../../../domain/ports/clock.js'
import type { ServedModel } from '../../../domain/upstream/content.js'
import type { Upstream } from '../../../domain/upstream/directory.js'
import type { LiveTargets } from './live-targets.js'
import type { ModelHealth, ShownUpstream } from './upstream-codecs.js'

/** An upstream with how its models do here and now. */
export const shownUpstream =
  (targets: LiveTargets, clock: Clock) =>
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

const healthOf = (
  targets: LiveTargets,
  clock: Clock,
  upstream: Upstream,
  model: ServedModel,
): ModelHealth => {
  const { health, inFlight } = targets.standingOf({ upstream, model })
  const { faults, out } = health
  return {
    model: model.id,
    state: out === null ? 'in' : out.isProbing ? 'probing' : 'out',
    faults_in_a_row: faults,
    in_flight: inFlight,
    out_until:
      out === null ? null : instantOf(new Date(clock.now().getTime() + targets.untilThen(out.until))),
  }
}
