import { accessEvents } from './access/events.js'
import { annotationQueueEvents } from './annotation-queues/queue.js'
import { annotationItemEvents } from './annotation-queues/item.js'
import { artifactEvents, registeredEvents, registryEvents } from './artifacts/events.js'
import { clientIdEvents } from './artifacts/client-id.js'
import { draftEvents } from './artifacts/draft.js'
import { automationEvents } from './webhooks/automations/events.js'
import { callEvents } from './calls/call.js'
import type { AnyCodec } from '../kernel/codec/codec.js'
import { deliveryEvents } from './webhooks/deliveries/events.js'
import { evaluationEvents } from './evaluations/evaluation-run.js'
import { evaluationRuleEvents } from './evaluations/rules/rule.js'
import { erasureEvents } from './erasures/erasure.js'
import { feedbackEvents } from './feedback/feedback.js'
import { fileEvents } from './files/file.js'
import { intakeEvents } from './intake/events.js'
import { limitEvents } from './gateway/limits/limits.js'
import { nameEvents } from './webhooks/names/names.js'
import { objectEvents } from './objects/events.js'
import { priceEvents } from './prices/events.js'
import { projectEvents } from './projects/project.js'
import { rebuildEvents } from './rebuilds/rebuild.js'
import { redriveEvents } from './webhooks/redrives/events.js'
import { runEvents } from './runs/events.js'
import { fineTuningEvents } from './training/fine-tuning.js'
import { trainedModelEvents, trainingJobEvents, workerEvents } from './training/events.js'
import { secretEvents } from './secrets/secret.js'
import { tableEvents } from './tables/table.js'
import { upstreamEvents } from './gateway/upstreams/events.js'
import { webhookEvents } from './webhooks/webhook.js'
import { webhookHealthEvents } from './webhooks/health.js'

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
  {
    name: 'annotation queue',
    stream: 'annotation_queue-<entity>/<project>/<queue id>',
    events: annotationQueueEvents,
  },
  {
    name: 'annotation item',
    stream: 'annotation_item-<entity>/<project>/<item id>',
    events: annotationItemEvents,
  },
  { name: 'evaluation run', stream: 'evaluation-<entity>/<project>/<run id>', events: evaluationEvents },
  { name: 'evaluation rule', stream: 'evaluation_rules-<entity>/<project>', events: evaluationRuleEvents },
  { name: 'price', stream: 'price-<entity>/<project>, price-<list>', events: priceEvents },
  { name: 'access', stream: 'access-directory', events: accessEvents },
  { name: 'trained model', stream: 'trained_model-<model id>', events: trainedModelEvents },
  { name: 'training job', stream: 'training_job-<job id>', events: trainingJobEvents },
  { name: 'fine-tuning', stream: 'fine_tuning-<entity>/<project>', events: fineTuningEvents },
  { name: 'training worker', stream: 'training-workers', events: workerEvents },
  { name: 'artifact', stream: 'artifact-<entity>/<project>/<collection>', events: artifactEvents },
  { name: 'artifact draft', stream: 'draft-<entity>/<project>/<artifact id>', events: draftEvents },
  {
    name: 'client id of an artifact',
    stream: 'artifact_client_id-<sha256 of the id>',
    events: clientIdEvents,
  },
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
  { name: 'webhook health', stream: 'webhook_health-<id>', events: webhookHealthEvents },
  { name: 'automation', stream: 'automation-<id>', events: automationEvents },
  { name: 'delivery', stream: 'delivery-<id>', events: deliveryEvents },
  { name: 'redrive', stream: 'redrive-<id>', events: redriveEvents },
  { name: 'upstream', stream: 'upstreams', events: upstreamEvents },
  { name: 'limit', stream: 'limits-<team>', events: limitEvents },
  { name: 'erasure', stream: 'erasure-<entity>/<project>/<id>', events: erasureEvents },
  { name: 'rebuild', stream: 'rebuild-<id>', events: rebuildEvents },
]
