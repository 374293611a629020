import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { boolean, integerBetween, oneOf, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import { allOptional } from '../webhooks/webhook-codecs.js'
import {
  newServedModel,
  owner,
  timeouts,
  upstreamFields,
  type ServedModel,
} from '../../domain/gateway/upstreams/content.js'
import type { Clock } from '../../kernel/ports/clock.js'
import { withoutCredentials } from '../../domain/secrets/credentials.js'
import type { Upstream } from '../../domain/gateway/upstreams/directory.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import type { TargetStates } from '../../gateway/upstreams/target-states.js'

const { required, optional } = upstreamFields

/** The fields of requests. */
const given = { ...required, models: arrayOf(newServedModel, 1) }

export const newUpstream = closed('NewUpstream', { required: given, optional: { team: owner, ...optional } })

/** What is absent stays; null takes an option away. */
export const upstreamChange = closed('UpstreamChange', {
  optional: allOptional({
    ...given,
    secret: optional.secret,
    timeouts,
    weight: integerBetween(0, 1000),
    continuous_usage_stats: boolean,
    headers: optional.headers,
    query: optional.query,
    stream_options: boolean,
    probe: boolean,
    enabled: boolean,
    apis: optional.apis,
    drop_untranslatable: boolean,
  }),
})

const modelHealth = open('UpstreamModelHealth', {
  says: 'The health of a model of an upstream, as seen by the responding process.',
  required: {
    model: string,
    /** `out` is not asked until `out_until`; `probing` is asked by one request, which decides. */
    state: oneOf('in', 'out', 'probing'),
    faults_in_a_row: wholeNumber,
    in_flight: wholeNumber,
  },
  optional: { out_until: nullable(instant) },
})
type ModelHealth = t.TypeOf<typeof modelHealth>

const upstreamHealth = open('UpstreamHealth', { required: { models: arrayOf(modelHealth) } })

export const upstreamJson = open('Upstream', {
  says:
    'A server of models. `secret` is the name of a secret of its team. A configured upstream comes from the ' +
    "operator's file and can only be changed there.",
  required: { id, ...required, configured: boolean, health: upstreamHealth },
  optional: { team: owner, ...optional },
})
type UpstreamView = t.TypeOf<typeof upstreamJson>

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
