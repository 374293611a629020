import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  type CallCommand,
  callDecider,
  callEvents,
  type CallEvent,
} from '../../../../src/domain/calls/call.js'
import { arbitraryCallId, deleteCall, endCall, given, renameCall, startCall } from './arbitrary.js'

const id = arbitraryCallId()

const someCommand: fc.Arbitrary<CallCommand> = fc.oneof(
  fc.constantFrom('a', 'b').map((op_name) => startCall(id, { op_name })),
  fc.constantFrom('a', 'b').map((output) => endCall(id, { output })),
  fc.constantFrom('a', null).map((name) => renameCall(id, name)),
  fc.constant(deleteCall(id)),
)

/** What is known of the call, apart from who said it when. */
const known = (commands: readonly CallCommand[]) => {
  const { start, end } = given(...commands).state
  const { end: _told, ...started } = start!
  const { start: _known, ...ended } = end!
  return { started, ended }
}

describe('a start and an end', () => {
  const some = fc.shuffledSubarray(
    [startCall(id), startCall(id), startCall(id), endCall(id), endCall(id), endCall(id)],
    { minLength: 4 },
  )

  it('say the same in any order and however often', () => {
    const expected = known([startCall(id), endCall(id)])
    fc.assert(fc.property(some, (commands) => assert.deepEqual(known(commands), expected)))
  })

  it('are two events, of which the later one tells of both', () => {
    fc.assert(
      fc.property(some, (commands) => {
        const { events, refusals } = given(...commands)
        assert.equal(events.length, 2)
        assert.ok(refusals.every((refused) => refused === undefined))
        const later = events[1]!
        assert.ok(later.type === 'CallStarted' ? later.data.end !== null : later.type === 'CallEnded')
        if (later.type === 'CallEnded') assert.notEqual(later.data.start, null)
      }),
    )
  })
})

describe('any commands', () => {
  it('of starting and ending write nothing when all of them are sent again', () => {
    fc.assert(
      fc.property(fc.array(someCommand, { maxLength: 12 }), (commands) => {
        // A name may change back and forth, and a call that is not there yet cannot be deleted.
        const lasting = commands.filter(({ type }) => type === 'StartCall' || type === 'EndCall')
        const { state } = given(...lasting)
        for (const command of lasting) assert.deepEqual(callDecider.decide(state, command).events, [])
      }),
    )
  })

  it('leave one start, one end and one deletion at most, and nothing after the deletion', () => {
    fc.assert(
      fc.property(fc.array(someCommand, { maxLength: 20 }), (commands) => {
        const types = given(...commands).events.map(({ type }) => type)
        for (const once of ['CallStarted', 'CallEnded', 'CallDeleted'])
          assert.ok(types.filter((type) => type === once).length <= 1)
        const deletion = types.indexOf('CallDeleted')
        assert.ok(deletion === -1 || deletion === types.length - 1)
      }),
    )
  })

  it('refuse only a conflict, and never the first of a call that is not deleted', () => {
    fc.assert(
      fc.property(fc.array(someCommand, { maxLength: 20 }), (commands) => {
        const { refusals } = given(...commands)
        commands.forEach((command, index) => {
          const isFirst = !commands
            .slice(0, index)
            .some(({ type }) => type === command.type || type === 'DeleteCall')
          if (refusals[index] !== undefined) assert.equal(refusals[index].kind, 'conflict')
          if (isFirst) assert.equal(refusals[index], undefined)
        })
      }),
    )
  })

  it('become events that their codecs read back unchanged', () => {
    fc.assert(
      fc.property(fc.array(someCommand, { maxLength: 12 }), (commands) => {
        for (const event of given(...commands).events) {
          const stored: unknown = JSON.parse(JSON.stringify(event.data))
          const decoded = callEvents[event.type].decode(stored)
          assert.ok(decoded._tag === 'Right', event.type)
          assert.deepEqual(decoded.right, stored)
        }
      }),
    )
  })

  it('give the same state from their events read back', () => {
    fc.assert(
      fc.property(fc.array(someCommand, { maxLength: 12 }), (commands) => {
        const { state, events } = given(...commands)
        const stored = JSON.parse(JSON.stringify(events)) as readonly CallEvent[]
        assert.deepEqual(stored.reduce(callDecider.evolve, callDecider.initialState()), state)
      }),
    )
  })
})

describe('conflicts without number', () => {
  it('are each kept once, and do not slow one another down', () => {
    const others = Array.from({ length: 20_000 }, (_, i) => endCall(id, { output: i }))
    const { events } = given(endCall(id), ...others, ...others.slice(0, 1000))
    assert.equal(events.length, 20_001)
  })
})
