import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, integerBetween, oneOf, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import { allOptional } from '../webhooks/webhook-codecs.js'
import { owner, timeouts, upstreamFields } from '../../domain/gateway/upstreams/content.js'

const { required, optional } = upstreamFields

export const newUpstream = closed('NewUpstream', { required, optional: { team: owner, ...optional } })

/** What is absent stays; null takes an option away. */
export const upstreamChange = closed('UpstreamChange', {
  optional: allOptional({
    ...required,
    secret: optional.secret,
    timeouts,
    weight: integerBetween(0, 1000),
    continuous_usage_stats: boolean,
    headers: optional.headers,
    query: optional.query,
    stream_options: boolean,
    probe: boolean,
    enabled: boolean,
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
export type ModelHealth = t.TypeOf<typeof modelHealth>

const upstreamHealth = open('UpstreamHealth', { required: { models: arrayOf(modelHealth) } })

export const upstreamJson = open('Upstream', {
  says:
    'A server of models. `secret` is the name of a secret of its team. A configured upstream comes from the ' +
    "operator's file and can only be changed there.",
  required: { id, ...required, configured: boolean, health: upstreamHealth },
  optional: { team: owner, ...optional },
})
export type UpstreamView = t.TypeOf<typeof upstreamJson>
