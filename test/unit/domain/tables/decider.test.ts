import assert from 'node:assert/strict'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import { type TableCommand, tableDecider, type TableEvent } from '../../../../src/domain/tables/table.js'

const ofTable = { project_id: 'team/project', digest: 'd'.repeat(43), spilled: {} }

const pack = (name: string): TableCommand => ({
  type: 'StoreTableRows',
  rows: { ...ofTable, pack: name.repeat(43), rows: [{ digest: name.repeat(43), val: { name } }] },
})

const publish: TableCommand = {
  type: 'PublishTable',
  table: {
    ...ofTable,
    row_count: 2,
    row_digests: ['a'.repeat(43), 'b'.repeat(43)],
    created_at: '2026-01-01T00:00:00.000000Z' as Instant,
    wb_user_id: 'user',
  },
}

const commands = [pack('a'), pack('b'), publish]

/** What commands decide after events. */
const decided = (events: readonly TableEvent[], later: readonly TableCommand[]): readonly TableEvent[] => {
  const all = [...events]
  for (const command of later) {
    const state = all.reduce(tableDecider.evolve, tableDecider.initialState())
    all.push(...tableDecider.decide(state, command).events)
  }
  return all.slice(events.length)
}

const said = (events: readonly TableEvent[]) =>
  events.map(({ type, data }) => (type === 'TableRowsStored' ? data.pack[0] : type))

describe('deciding about a table', () => {
  it('stores its rows, then publishes it', () =>
    assert.deepEqual(said(decided([], commands)), ['a', 'b', 'TablePublished']))

  it('writes nothing when its commands are repeated', () =>
    assert.deepEqual(decided(decided([], commands), commands), []))

  it('stores a pack once within one request too', () =>
    assert.deepEqual(said(decided([], [pack('a'), pack('a'), publish, publish])), ['a', 'TablePublished']))

  it('completes what was cut off, wherever that was', () => {
    const whole = decided([], commands)
    for (let cut = 0; cut <= whole.length; cut += 1)
      assert.deepEqual([...whole.slice(0, cut), ...decided(whole.slice(0, cut), commands)], whole)
  })
})
