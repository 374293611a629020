import assert from 'node:assert/strict'
import fc from 'fast-check'
import { annotationItemEvents } from '../../../src/domain/annotation-queues/item.js'
import { callEvents } from '../../../src/domain/calls/call.js'
import { feedbackEvents } from '../../../src/domain/feedback/feedback.js'
import { countedCost, Ledger } from '../../../src/domain/gateway/limits/ledger.js'
import { withoutFigures } from '../../../src/domain/without-figures.js'
import { isWithoutFigures } from '../../../src/kernel/codec/erasable.js'
import type { Codec } from '../../../src/kernel/codec/codec.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { RecordedEvent } from '../../../src/kernel/ports/event-store.js'
import { arbitraryOf } from '../../support/arbitrary-of-codec.js'

const codecs: Readonly<Record<string, unknown>> = {
  ...callEvents,
  ...feedbackEvents,
  AnnotationItemAdded: annotationItemEvents.AnnotationItemAdded,
}

describe('the data of an event without its figures', () => {
  for (const [type, codec] of Object.entries(codecs))
    it(`can be read as ${type}, and has its ids and no time of day`, () => {
      const someData = arbitraryOf(codec as Codec<unknown>) as fc.Arbitrary<JsonObject>
      fc.assert(
        fc.property(someData, (data) => {
          const left = withoutFigures(type, data)!
          assert.ok((codec as Codec<unknown>).is(left), JSON.stringify(left))
          assert.ok(isWithoutFigures(left))
          assert.deepEqual([left['project_id'], left['id']], [data['project_id'], data['id']])
          const times = JSON.stringify(left).match(/\d{4}-\d\d-\d\dT[\d:.]+/g) ?? []
          assert.ok(times.every((time) => time.endsWith('T00:00:00.000000')))
        }),
      )
    })
})

describe('what budgets count for an erased completion', () => {
  const of = (type: string, data: JsonObject): RecordedEvent =>
    ({
      type,
      data,
      stream: 'call-team/project/id',
      metadata: { part: 'inference' },
    }) as unknown as RecordedEvent
  const price = { prompt_token_cost: '0.001', completion_token_cost: '0.002' }
  const start = of('CallStarted', {
    ...{ project_id: 'team/project', id: 'id', started_at: '2026-01-02T03:04:05.000000Z' },
    attributes: {
      tallytree: {
        ...{ kind: 'completion', instance: 'i', key_id: 'k', reserved: '5', price },
        ...{ admitted_at: '2026-01-02T03:04:05.000000Z', deadline_at: '2026-01-02T03:14:05.000000Z' },
      },
    },
  })
  const end = (models: readonly JsonObject[]) =>
    of('CallEnded', {
      ...{ project_id: 'team/project', id: 'id', ended_at: '2026-01-02T03:04:06.000000Z' },
      ...{ usage: { models }, summary: { tallytree: { owed: true } } },
    })
  const erased = (event: RecordedEvent, all: readonly RecordedEvent[]): RecordedEvent =>
    of(event.type, withoutFigures(event.type, event.data, countedCost(all))!)
  const accounts = (events: readonly RecordedEvent[]) => {
    const ledger = new Ledger()
    for (const event of events) ledger.take(event)
    return ledger.content().accounts
  }
  const used = end([{ model: 'm', requests: 1, prompt_tokens: 10, completion_tokens: 20 }])
  const cases: Readonly<Record<string, readonly RecordedEvent[]>> = {
    'has ended': [start, used],
    'ended with unknown usage': [start, end([])],
    'has not ended': [start],
    'was deleted while it ran': [start, of('CallDeleted', { project_id: 'team/project', id: 'id' })],
  }
  for (const [when, events] of Object.entries(cases))
    it(`stays the same when it ${when}, also after an erasure that was interrupted`, () => {
      const before = accounts(events)
      const all = events.map((event) => erased(event, events))
      assert.deepEqual(accounts(all), before)
      const [first, ...rest] = events
      const half = [erased(first!, events), ...rest]
      assert.deepEqual(
        accounts(half.map((event) => (isWithoutFigures(event.data) ? event : erased(event, half)))),
        before,
      )
    })
})
