import assert from 'node:assert/strict'
import {
  erasureDecider,
  totalsOf,
  type ErasureCommand,
  type ErasureState,
} from '../../../../src/domain/erasures/erasure.js'
import { parseInstant } from '../../../../src/kernel/codec/instant.js'

const OF_ERASURE = { project_id: 'team/project', id: 'e' }
const now = parseInstant('2026-01-01T00:00:00Z')!

const receipt = (part: number) => ({
  ...{ ...OF_ERASURE, part, calls: 2, events: 3, bytes: 10, positions: '1-3', blobs: [], unreadable: 0 },
})

const COMMANDS: readonly ErasureCommand[] = [
  {
    type: 'RequestErasure',
    request: {
      ...{ ...OF_ERASURE, requested_at: now, requested_by: 'admin', reason: 'asked for' },
      ...{ filter: {}, query: null, with_descendants: false, except: [], figures: false },
      ...{ whole_project: false, erased: false },
    },
  },
  { type: 'SelectCalls', ...OF_ERASURE, call_ids: ['a', 'b'], is_last: false },
  { type: 'SelectCalls', ...OF_ERASURE, call_ids: ['c', 'd'], is_last: true },
  { type: 'NoteErased', erased: receipt(0) },
  { type: 'NoteErased', erased: receipt(1) },
  { type: 'FinishErasure', finished: { ...OF_ERASURE, finished_at: now, blobs_deleted: 0 } },
]

const after = (commands: readonly ErasureCommand[]): ErasureState =>
  commands.reduce(
    (state, command) => erasureDecider.decide(state, command).events.reduce(erasureDecider.evolve, state),
    erasureDecider.initialState(),
  )

describe('an erasure', () => {
  it('writes nothing when a step is repeated', () => {
    const state = after(COMMANDS)
    for (const command of COMMANDS) assert.deepEqual(erasureDecider.decide(state, command).events, [])
  })

  it('has another receipt for a part whose calls got content meanwhile, and counts these calls once', () => {
    const more = { ...receipt(0), events: 1, positions: '7' }
    const { receipts, parts } = after([
      ...COMMANDS.slice(0, 5),
      ...[more, more, { ...more, events: 0, positions: '' }].map(
        (erased) => ({ type: 'NoteErased', erased }) as const,
      ),
    ])
    assert.deepEqual(receipts.slice(2), [{ ...more, calls: 0 }])
    assert.equal(parts, 2)
  })

  it('finishes with the totals of its receipts', () => {
    const { finished, selected } = after(COMMANDS)
    assert.deepEqual(selected, [
      ['a', 'b'],
      ['c', 'd'],
    ])
    const totals = { calls: 4, events: 6, bytes: 20, unreadable: 0 }
    assert.deepEqual(finished, { ...OF_ERASURE, finished_at: now, blobs_deleted: 0, ...totals })
    assert.deepEqual(totalsOf(after(COMMANDS.slice(0, 4))), { calls: 2, events: 3, bytes: 10, unreadable: 0 })
  })
})
