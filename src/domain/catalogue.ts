import { accessEvents } from './access/events.js'
import { artifactEvents, registeredEvents, registryEvents } from './artifact/events.js'
import { automationEvents } from './automation/events.js'
import { callEvents } from './call/events.js'
import type { AnyCodec } from '../kernel/codec/codec.js'
import { deliveryEvents } from './delivery/events.js'
import { evaluationEvents } from './evaluation/events.js'
import { evaluationRuleEvents } from './evaluation-rule/events.js'
import { feedbackEvents } from './feedback/events.js'
import { fileEvents } from './file/events.js'
import { intakeEvents } from './intake/events.js'
import { limitEvents } from './limit/events.js'
import { nameEvents } from './names/events.js'
import { objectEvents } from './object/events.js'
import { priceEvents } from './price/events.js'
import { projectEvents } from './project/events.js'
import { rebuildEvents } from './rebuild/events.js'
import { redriveEvents } from './redrive/events.js'
import { runEvents } from './run/events.js'
import { secretEvents } from './secret/events.js'
import { tableEvents } from './table/events.js'
import { upstreamEvents } from './upstream/events.js'
import { webhookEvents } from './webhook/events.js'

export interface Aggregate {
  readonly name: string
  /** Pattern of the stream names. */
  readonly stream: string
  readonly events: Readonly<Record<string, AnyCodec>>
}

/** All event types, by aggregate. */
export const catalogue: readonly Aggregate[] = [
  { name: 'call', stream: 'call-<entity>/<project>/<call id>', events: callEvents },
  { name: 'intake', stream: 'intake-<entity>/<project>/<id>', events: intakeEvents },
  { name: 'project', stream: 'project-<entity>/<project>', events: projectEvents },
  { name: 'object', stream: 'object-<entity>/<project>/<object id>', events: objectEvents },
  { name: 'table', stream: 'table-<entity>/<project>/<digest>', events: tableEvents },
  { name: 'file', stream: 'file-<entity>/<project>/<digest>', events: fileEvents },
  { name: 'feedback', stream: 'feedback-<entity>/<project>/<feedback id>', events: feedbackEvents },
  { name: 'evaluation run', stream: 'evaluation-<entity>/<project>/<run id>', events: evaluationEvents },
  { name: 'evaluation rule', stream: 'evaluation_rules-<entity>/<project>', events: evaluationRuleEvents },
  { name: 'price', stream: 'price-<entity>/<project>, price-<list>', events: priceEvents },
  { name: 'access', stream: 'access-directory', events: accessEvents },
  { name: 'artifact', stream: 'artifact-<entity>/<project>/<collection>', events: artifactEvents },
  { name: 'registry', stream: 'registry-<team>', events: registryEvents },
  {
    name: 'registered collection',
    stream: 'registered-<team>/<registry>/<collection>',
    events: registeredEvents,
  },
  { name: 'run', stream: 'run-<entity>/<project>/<run id>', events: runEvents },
  { name: 'secret', stream: 'secret-<team>/<name>', events: secretEvents },
  { name: 'names', stream: 'names-<team>', events: nameEvents },
  { name: 'webhook', stream: 'webhook-<id>', events: webhookEvents },
  { name: 'automation', stream: 'automation-<id>', events: automationEvents },
  { name: 'delivery', stream: 'delivery-<id>', events: deliveryEvents },
  { name: 'redrive', stream: 'redrive-<id>', events: redriveEvents },
  { name: 'upstream', stream: 'upstreams', events: upstreamEvents },
  { name: 'limit', stream: 'limits-<team>', events: limitEvents },
  { name: 'rebuild', stream: 'rebuild-<id>', events: rebuildEvents },
]
