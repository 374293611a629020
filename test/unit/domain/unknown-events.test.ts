import assert from 'node:assert/strict'
import fc from 'fast-check'
import { accessDecider } from '../../../src/domain/access/decider.js'
import { artifactDecider } from '../../../src/domain/artifact/decider.js'
import { registeredDecider } from '../../../src/domain/artifact/registered-decider.js'
import { registryDecider } from '../../../src/domain/artifact/registry.js'
import { automationDecider } from '../../../src/domain/automation/decider.js'
import { callDecider } from '../../../src/domain/call/decider.js'
import { catalogue } from '../../../src/domain/catalogue.js'
import type { Decider, DomainEvent } from '../../../src/kernel/decider.js'
import { deliveryDecider } from '../../../src/domain/delivery/decider.js'
import { evaluationRuleDecider } from '../../../src/domain/evaluation-rule/decider.js'
import { evaluationDecider } from '../../../src/domain/evaluation/decider.js'
import { feedbackDecider } from '../../../src/domain/feedback/decider.js'
import { fileDecider } from '../../../src/domain/file/decider.js'
import { limitDecider } from '../../../src/domain/limit/decider.js'
import { namesDecider } from '../../../src/domain/names/decider.js'
import { objectDecider } from '../../../src/domain/object/decider.js'
import { priceDecider } from '../../../src/domain/price/decider.js'
import { projectDecider } from '../../../src/domain/project/decider.js'
import { rebuildDecider } from '../../../src/domain/rebuild/decider.js'
import { redriveDecider } from '../../../src/domain/redrive/decider.js'
import { runDecider } from '../../../src/domain/run/decider.js'
import { secretDecider } from '../../../src/domain/secret/decider.js'
import { tableDecider } from '../../../src/domain/table/decider.js'
import { upstreamDecider } from '../../../src/domain/upstream/decider.js'
import { webhookDecider } from '../../../src/domain/webhook/decider.js'
import { arbitraryOf } from '../../support/arbitrary-of-codec.js'

type AnyDecider = Pick<Decider<unknown, never, DomainEvent>, 'initialState' | 'evolve'>

/** By aggregate of the catalogue; `intake` is only written, never folded. */
const deciders = {
  access: accessDecider,
  artifact: artifactDecider,
  automation: automationDecider,
  call: callDecider,
  delivery: deliveryDecider,
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
  redrive: redriveDecider,
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
  for (const { name, events } of catalogue.filter((aggregate) => aggregate.name !== 'intake'))
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
