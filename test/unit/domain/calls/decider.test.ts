import assert from 'node:assert/strict'
import { type CallCommand, nameOf } from '../../../../src/domain/calls/call.js'
import type { CallEnd, CallStart } from '../../../../src/domain/calls/content.js'
import {
  arbitraryCallId,
  at,
  deleteCall,
  endCall,
  given,
  lastOf,
  renameCall,
  startCall,
} from './arbitrary.js'

const id = arbitraryCallId()
const NOTHING = { events: [] }

describe('giving a call up', () => {
  const giveUp: CallCommand = { ...endCall(id), type: 'GiveUpCall' }

  const typesAfter = (...commands: readonly CallCommand[]) =>
    given(...commands).events.map((event) => event.type)

  it('ends it where it is open, once', () => {
    assert.deepEqual(typesAfter(startCall(id), giveUp), ['CallStarted', 'CallEnded'])
    assert.deepEqual(typesAfter(startCall(id), giveUp, giveUp), ['CallStarted', 'CallEnded'])
  })

  it('writes nothing where it never began, was ended or is deleted', () => {
    assert.deepEqual(typesAfter(giveUp), [])
    const ended = endCall(id, { output: 'other' })
    assert.deepEqual(typesAfter(startCall(id), ended, giveUp), ['CallStarted', 'CallEnded'])
    assert.deepEqual(typesAfter(startCall(id), deleteCall(id), giveUp), ['CallStarted', 'CallDeleted'])
  })
})

describe('a start', () => {
  it('is recorded with everything it says, who wrote it and whence it came', () => {
    const start: Partial<CallStart> = {
      display_name: 'name',
      trace_id: 't',
      parent_id: 'p',
      thread_id: 'th',
      turn_id: 'tu',
      otel_dump: { a: 1 },
      wb_run_id: 'r',
      wb_run_step: 3,
    }
    const command = startCall(id, start, { source: 'js-sdk', userId: 'bob' })
    const { events } = given(command)
    const data = { ...command.start, trace_from: 'client', source: 'js-sdk', wb_user_id: 'bob', end: null }
    assert.deepEqual(events, [{ type: 'CallStarted', data }])
  })

  const traces: readonly (readonly [string, string | null, string | null, string, string])[] = [
    ['its own trace', 't', null, 't', 'client'],
    ['its own trace, also when its parent has another', 't', 'of-parent', 't', 'client'],
    ["its parent's trace when it names none", null, 'of-parent', 'of-parent', 'parent'],
    ["the call's id when neither is known", null, null, id, 'call'],
  ]
  for (const [name, trace_id, parentTrace, trace, from] of traces)
    it(`takes ${name}`, () => {
      const { state } = given(startCall(id, { trace_id }, { parentTrace }))
      assert.deepEqual([state.start?.trace_id, state.start?.trace_from], [trace, from])
    })

  it('may be its own parent, or have a parent that never comes', () => {
    assert.equal(given(startCall(id, { parent_id: id })).events.length, 1)
    assert.equal(given(startCall(id, { parent_id: 'never' })).refusals[0], undefined)
  })

  it('that comes after the end carries what the end said', () => {
    const summary = { usage: { m: { prompt_tokens: 2 } }, status_counts: { success: 1 } }
    const end = endCall(id, { exception: 'boom', summary })
    const [, started] = given(end, startCall(id)).events
    assert.ok(started?.type === 'CallStarted')
    assert.deepEqual(started.data.end, { ended_at: end.end.ended_at, exception: 'boom', usage: end.usage })
  })
})

describe('an end', () => {
  it('is recorded without a start', () => {
    const command = endCall(id)
    const data = { ...command.end, usage: command.usage, start: null }
    assert.deepEqual(given(command).events, [{ type: 'CallEnded', data }])
  })

  it('carries what the start said once that is known', () => {
    const [, ended] = given(startCall(id, { parent_id: 'p' }, { source: 'python-sdk' }), endCall(id)).events
    assert.ok(ended?.type === 'CallEnded')
    assert.deepEqual(ended.data.start, {
      trace_id: id,
      started_at: at('2026-01-01T00:00:00Z'),
      parent_id: 'p',
      source: 'python-sdk',
    })
  })

  it('may lie before the start in time', () => {
    const early = endCall(id, { ended_at: at('1900-01-01T00:00:00Z') })
    assert.equal(given(startCall(id), early).refusals[1], undefined)
  })
})

describe('a command run twice', () => {
  const commands: readonly (readonly [string, readonly CallCommand[], CallCommand])[] = [
    ['start', [], startCall(id)],
    ['start with a parent', [], startCall(id, { parent_id: 'p' }, { parentTrace: 't' })],
    ['start after its end', [endCall(id)], startCall(id)],
    ['end', [], endCall(id)],
    ['end after its start', [startCall(id)], endCall(id)],
    ['rename', [startCall(id)], renameCall(id, 'new')],
    ['rename before the start', [], renameCall(id, 'new')],
    ['rename to none', [startCall(id, { display_name: 'old' })], renameCall(id, null)],
    ['deletion', [startCall(id)], deleteCall(id)],
    ['deletion of what only ended', [endCall(id)], deleteCall(id)],
    ['conflicting start', [startCall(id)], startCall(id, { op_name: 'other' })],
    ['conflicting end', [endCall(id)], endCall(id, { output: 'other' })],
  ]
  for (const [name, before, command] of commands)
    it(`writes nothing the second time: ${name}`, () => {
      assert.equal(lastOf(...before, command).events.length, 1)
      assert.deepEqual(lastOf(...before, command, command).events, [])
    })
})

describe('a start sent again', () => {
  it('is the same when the user, the source, the parent’s trace or the order of keys differ', () => {
    const first = startCall(id, { parent_id: 'p', inputs: { a: 1, b: [1, { c: 2, d: 3 }] } })
    const again = startCall(
      id,
      { parent_id: 'p', inputs: { b: [1, { d: 3, c: 2 }], a: 1 } },
      { userId: 'bob', source: 'js-sdk', parentTrace: 'known-by-now' },
    )
    assert.deepEqual(lastOf(first, again), NOTHING)
  })

  const otherwise: readonly Partial<CallStart>[] = [
    { op_name: 'other' },
    { started_at: at('2026-01-01T00:00:00.000001Z') },
    { display_name: 'other' },
    { parent_id: 'other' },
    { thread_id: 'other' },
    { turn_id: 'other' },
    { wb_run_id: 'other' },
    { wb_run_step: 0 },
    { inputs: {} },
    { inputs: { question: null } },
    { inputs: null },
    { attributes: { a: null } },
    { otel_dump: {} },
    { trace_id: 'other' },
  ]
  for (const other of otherwise)
    it(`is another one with ${JSON.stringify(other)}: refused, reported once, and the first stands`, () => {
      const run = given(startCall(id), startCall(id, other), startCall(id, other), startCall(id))
      assert.deepEqual(
        run.events.map(({ type }) => type),
        ['CallStarted', 'ConflictingCallStartReported'],
      )
      assert.deepEqual(
        run.refusals.map((refused) => refused?.kind),
        [undefined, 'conflict', 'conflict', undefined],
      )
      assert.equal(run.state.start?.op_name, 'answer')
      const [, report] = run.events
      assert.ok(report?.type === 'ConflictingCallStartReported')
      assert.deepEqual(report.data.start, startCall(id, other).start)
    })

  it('reports each different one, once each, in any order', () => {
    const others = ['a', 'b', 'c'].map((op_name) => startCall(id, { op_name }))
    const run = given(startCall(id), ...others, ...others.toReversed(), ...others)
    assert.equal(run.events.length, 4)
  })

  const traces: readonly (readonly [string | null, string | null, string | null, boolean])[] = [
    [null, null, null, true],
    [null, null, id, true],
    [null, 'of-parent', 'of-parent', true],
    [null, 'of-parent', id, false],
    ['t', null, 't', true],
    ['t', null, null, false],
    [id, null, null, false],
    ['t', null, 'u', false],
    [null, null, 't', false],
  ]
  for (const [trace_id, parentTrace, again, same] of traces)
    it(`in trace ${again === id ? 'its id' : again} is ${same ? 'the same' : 'another'} after ${trace_id}`, () => {
      const decision = lastOf(
        startCall(id, { trace_id }, { parentTrace }),
        startCall(id, { trace_id: again }),
      )
      assert.equal(decision.refused === undefined, same)
    })

  it('may be as large as a payload that went elsewhere: its canonical digest decides', () => {
    const spilled = (canonical: string, digest: string) => ({
      inputs: null,
      spilled: { inputs: { digest, size: 300_000, canonical } },
    })
    const first = startCall(id, spilled('c1', 'd1'))
    assert.deepEqual(lastOf(first, startCall(id, spilled('c1', 'other order of keys'))), NOTHING)
    const other = startCall(id, spilled('c2', 'd2'))
    const run = given(first, other, startCall(id, spilled('c2', 'd3')), startCall(id, { inputs: null }))
    assert.deepEqual(
      run.events.map(({ type }) => type),
      ['CallStarted', 'ConflictingCallStartReported', 'ConflictingCallStartReported'],
    )
  })
})

describe('an end sent again', () => {
  const otherwise: readonly Partial<CallEnd>[] = [
    { ended_at: at('2026-01-01T00:00:01.000001Z') },
    { output: null },
    { output: ['because'] },
    { summary: {} },
    { summary: null },
    { exception: 'boom' },
    { wb_run_step_end: 0 },
  ]
  for (const other of otherwise)
    it(`is another one with ${JSON.stringify(other)}: refused, reported once, and the first stands`, () => {
      const run = given(endCall(id), endCall(id, other), endCall(id, other), endCall(id))
      assert.deepEqual(
        run.events.map(({ type }) => type),
        ['CallEnded', 'ConflictingCallEndReported'],
      )
      assert.deepEqual(
        run.refusals.map((refused) => refused?.kind),
        [undefined, 'conflict', 'conflict', undefined],
      )
      assert.equal(run.state.end?.output, 'because')
    })
})

describe('a name', () => {
  it('is that of the start until it is set', () => {
    assert.equal(nameOf(given(startCall(id, { display_name: 'first' })).state), 'first')
    assert.equal(nameOf(given(startCall(id)).state), null)
  })

  it('set before the start stands after it', () => {
    const run = given(renameCall(id, 'set'), startCall(id, { display_name: 'first' }))
    assert.deepEqual(
      run.events.map(({ type }) => type),
      ['CallRenamed', 'CallStarted'],
    )
    assert.equal(nameOf(run.state), 'set')
  })

  it('set to what it is already writes nothing', () => {
    assert.deepEqual(lastOf(startCall(id, { display_name: 'n' }), renameCall(id, 'n')), NOTHING)
    assert.deepEqual(lastOf(startCall(id), renameCall(id, null)), NOTHING)
    assert.deepEqual(lastOf(renameCall(id, null)), NOTHING)
  })

  it('can be set, set back and set again', () => {
    const run = given(startCall(id), renameCall(id, 'a'), renameCall(id, null), renameCall(id, 'a'))
    assert.equal(run.events.length, 4)
    assert.equal(nameOf(run.state), 'a')
  })

  it('carries the time of the start, null before the start', () => {
    const { events } = given(renameCall(id, 'a'), startCall(id), renameCall(id, 'b'))
    const times = events.flatMap(({ type, data }) => (type === 'CallRenamed' ? [data.started_at] : []))
    assert.deepEqual(times, [null, '2026-01-01T00:00:00.000000Z'])
  })

  it('does not make the start sent again another one', () => {
    const start = startCall(id, { display_name: 'first' })
    assert.deepEqual(lastOf(start, renameCall(id, 'set'), start), NOTHING)
  })
})

describe('a deleted call', () => {
  it('is gone with its trace', () => {
    const [, deleted] = given(startCall(id, { trace_id: 't' }), deleteCall(id)).events
    assert.deepEqual(deleted, {
      type: 'CallDeleted',
      data: { project_id: 'team/project', id, trace_id: 't', started_at: '2026-01-01T00:00:00.000000Z' },
    })
  })

  const writes: readonly CallCommand[] = [
    startCall(id),
    startCall(id, { op_name: 'other' }),
    endCall(id),
    endCall(id, { output: 'other' }),
    renameCall(id, 'name'),
  ]
  for (const write of writes)
    it(`refuses a ${write.type} as a conflict and writes nothing`, () => {
      for (const first of [startCall(id), endCall(id)]) {
        const { events, refused } = lastOf(first, deleteCall(id), write)
        assert.deepEqual([events, refused?.kind], [[], 'conflict'])
      }
    })

  it('is deleted once', () => {
    assert.deepEqual(lastOf(startCall(id), deleteCall(id), deleteCall(id)), NOTHING)
    assert.deepEqual(lastOf(endCall(id), deleteCall(id), deleteCall(id)), NOTHING)
  })

  it('must have been there', () => {
    assert.deepEqual(lastOf(deleteCall(id)), NOTHING)
    assert.deepEqual(lastOf(renameCall(id, 'name'), deleteCall(id)), NOTHING)
    assert.equal(given(deleteCall(id), startCall(id)).events.length, 1)
  })
})
