import assert from 'node:assert/strict'
import fc from 'fast-check'
import { accessDecider } from '../../../src/domain/access/decider.js'
import { annotationQueueDecider } from '../../../src/domain/annotation-queues/queue.js'
import { annotationItemDecider } from '../../../src/domain/annotation-queues/item.js'
import { artifactDecider } from '../../../src/domain/artifacts/decider.js'
import { registeredDecider } from '../../../src/domain/artifacts/registered-decider.js'
import { registryDecider } from '../../../src/domain/artifacts/registry.js'
import { automationDecider } from '../../../src/domain/webhooks/automations/decider.js'
import { callDecider } from '../../../src/domain/calls/call.js'
import { catalogue } from '../../../src/domain/catalogue.js'
import type { Decider, DomainEvent } from '../../../src/kernel/decider.js'
import { deliveryDecider } from '../../../src/domain/webhooks/deliveries/decider.js'
import { erasureDecider } from '../../../src/domain/erasures/erasure.js'
import { evaluationRuleDecider } from '../../../src/domain/evaluations/rules/rule.js'
import { evaluationDecider } from '../../../src/domain/evaluations/evaluation-run.js'
import { feedbackDecider } from '../../../src/domain/feedback/feedback.js'
import { fileDecider } from '../../../src/domain/files/file.js'
import { limitDecider } from '../../../src/domain/gateway/limits/limits.js'
import { namesDecider } from '../../../src/domain/webhooks/names/names.js'
import { clientIdDecider } from '../../../src/domain/artifacts/client-id.js'
import { draftDecider } from '../../../src/domain/artifacts/draft.js'
import { objectDecider } from '../../../src/domain/objects/decider.js'
import { priceDecider } from '../../../src/domain/prices/decider.js'
import { projectDecider } from '../../../src/domain/projects/project.js'
import { rebuildDecider } from '../../../src/domain/rebuilds/rebuild.js'
import { runDecider } from '../../../src/domain/runs/decider.js'
import { secretDecider } from '../../../src/domain/secrets/secret.js'
import { tableDecider } from '../../../src/domain/tables/table.js'
import { trainedModelDecider } from '../../../src/domain/training/decider.js'
import { fineTuningDecider } from '../../../src/domain/training/fine-tuning.js'
import { workerDecider } from '../../../src/domain/training/workers.js'
import { upstreamDecider } from '../../../src/domain/gateway/upstreams/decider.js'
import { webhookDecider } from '../../../src/domain/webhooks/webhook.js'
import { arbitraryOf } from '../../support/arbitrary-of-codec.js'

type AnyDecider = Pick<Decider<unknown, never, DomainEvent>, 'initialState' | 'evolve'>

/** By aggregate of the catalogue; `intake` is only written, never folded. */
const deciders = {
  access: accessDecider,
  'annotation item': annotationItemDecider,
  'annotation queue': annotationQueueDecider,
  artifact: artifactDecider,
  'trained model': trainedModelDecider,
  'training worker': workerDecider,
  'fine-tuning': fineTuningDecider,
  'artifact draft': draftDecider,
  'client id of an artifact': clientIdDecider,
  automation: automationDecider,
  call: callDecider,
  delivery: deliveryDecider,
  erasure: erasureDecider,
  'evaluation run': evaluationDecider,
  'evaluation rule': evaluationRuleDecider,
  feedback: feedbackDecider,
  file: fileDecider,
  limit: limitDecider,
  names: namesDecider,
  object: objectDecider,
  price: priceDecider,
  project: projectDecider,
  rebuild: rebuildDecider,
  'registered collection': registeredDecider,
  registry: registryDecider,
  run: runDecider,
  secret: secretDecider,
  table: tableDecider,
  upstream: upstreamDecider(new Map()),
  webhook: webhookDecider,
}

const UNKNOWN: DomainEvent = { type: 'EventOfANewerRelease', data: {} }

/** A collection counts all events of its stream, because it reads versions by revision. */
const countedUnknown = (name: string, state: unknown): unknown =>
  name === 'artifact' || name === 'registered collection'
    ? { ...(state as { length: number }), length: (state as { length: number }).length + 1 }
    : state

describe('an event of an unknown type', () => {
  const folded = catalogue.filter(
    ({ name }) => !['intake', 'webhook health', 'redrive', 'training job'].includes(name),
  )
  for (const { name, events } of folded)
    it(`leaves the state of ${name} unchanged`, () => {
      const { initialState, evolve } = deciders[name as keyof typeof deciders] as unknown as AnyDecider

      assert.deepEqual(evolve(initialState(), UNKNOWN), countedUnknown(name, initialState()))
      for (const [type, codec] of Object.entries(events)) {
        const [data] = fc.sample(arbitraryOf(codec), { seed: 1, numRuns: 1 })
        const state = evolve(initialState(), { type, data: data as object })
        const before = structuredClone(state)
        assert.deepEqual(evolve(state, UNKNOWN), countedUnknown(name, before))
      }
    })
})
