import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  callDecider,
  callEvents,
  type CallCommand,
  type CallEvent,
} from '../../../../src/domain/calls/call.js'
import { erasedCallData } from '../../../../src/domain/calls/erased.js'
import { endStatus } from '../../../../src/domain/calls/status.js'
import { reportedUsageOf } from '../../../../src/domain/calls/usage/reported.js'
import type { Codec } from '../../../../src/kernel/codec/codec.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { arbitraryOf } from '../../../support/arbitrary-of-codec.js'
import { arbitraryCallId, endCall, given, startCall } from './arbitrary.js'

const WITH_CONTENT = [
  'CallStarted',
  'CallEnded',
  'ConflictingCallStartReported',
  'ConflictingCallEndReported',
] as const

const SECRET = 'the planted text'
const HOLDERS: Readonly<Record<(typeof WITH_CONTENT)[number], string | null>> = {
  CallStarted: null,
  CallEnded: null,
  ConflictingCallStartReported: 'start',
  ConflictingCallEndReported: 'end',
}

/** The data with a text in all of its content. */
const planted = (type: (typeof WITH_CONTENT)[number], data: JsonObject): JsonObject => {
  const holder = HOLDERS[type]
  const ofStart = {
    inputs: { question: SECRET },
    attributes: { customer: SECRET, tallytree: { note: SECRET }, weave: { note: SECRET } },
    otel_dump: { span: SECRET },
    spilled: { inputs: { digest: SECRET, size: 1, canonical: SECRET } },
  }
  const ofEnd = {
    output: [SECRET],
    summary: { usage: { m: { requests: 1 } }, status_counts: { error: 1 }, note: SECRET },
    exception: SECRET,
    spilled: { output: { digest: SECRET, size: 1, canonical: SECRET } },
  }
  const content = type.includes('Start') ? ofStart : ofEnd
  if (holder !== null) return { ...data, [holder]: { ...(data[holder] as JsonObject), ...content } }
  const { exception } = ofEnd
  const end = data['end'] == null ? {} : { end: { ...(data['end'] as JsonObject), exception } }
  return { ...data, ...content, ...end }
}

describe('the data of an erased event of a call', () => {
  for (const type of WITH_CONTENT) {
    const someData = arbitraryOf(callEvents[type] as Codec<unknown>) as fc.Arbitrary<JsonObject>

    it(`has nothing of the content of ${type}, and can be read and erased again`, () => {
      fc.assert(
        fc.property(someData, (data) => {
          const erased = erasedCallData(type, planted(type, data))!

          assert.ok(!JSON.stringify(erased).includes(SECRET))
          assert.equal(erased['erased'], true)
          assert.deepEqual(erasedCallData(type, erased), erased)
          assert.equal(callEvents[type].decode(erased)._tag, 'Right')
        }),
      )
    })
  }

  it('keeps status, usage and what else figures are computed from', () => {
    fc.assert(
      fc.property(arbitraryOf(callEvents.CallEnded), (data) => {
        const erased = erasedCallData('CallEnded', data)! as unknown as typeof data

        assert.deepEqual(erased.usage, data.usage)
        assert.equal(endStatus(erased.exception, erased.summary), endStatus(data.exception, data.summary))
        assert.deepEqual(reportedUsageOf(erased.summary!), reportedUsageOf(data.summary ?? {}))
      }),
    )
  })

  it('is undefined for events without content', () => {
    assert.equal(erasedCallData('CallRenamed', { project_id: 'a/b', id: 'c' }), undefined)
  })
})

describe('a call whose content was erased', () => {
  const id = arbitraryCallId()
  const erasedState = (...commands: readonly CallCommand[]) => {
    const { events } = given(...commands)
    return events.reduce<ReturnType<typeof callDecider.initialState>>((state, { type, data }) => {
      const left = erasedCallData(type, data) ?? data
      return callDecider.evolve(state, { type, data: left } as CallEvent)
    }, callDecider.initialState())
  }

  it('writes nothing when its start and its end are repeated', () => {
    const state = erasedState(startCall(id), endCall(id))

    assert.deepEqual(callDecider.decide(state, startCall(id)), { events: [] })
    assert.deepEqual(callDecider.decide(state, endCall(id)), { events: [] })
  })

  it('records a later end and a later start without their content', () => {
    const [end] = callDecider.decide(erasedState(startCall(id)), endCall(id, { output: SECRET })).events
    const [start] = callDecider.decide(erasedState(endCall(id)), startCall(id, { inputs: { SECRET } })).events

    for (const event of [start, end]) {
      assert.equal((event?.data as JsonObject)['erased'], true)
      assert.ok(!JSON.stringify(event).includes(SECRET))
    }
    assert.equal((end?.data as unknown as { usage: { models: unknown[] } }).usage.models.length, 1)
  })
})
