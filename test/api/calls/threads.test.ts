import assert from 'node:assert/strict'
import type { Client } from '../../support/client.js'
import { reasonOf, told } from './given.js'
import { sharedService, someProject } from '../shared-service.js'

describe('threads', () => {
  let client: Client
  beforeEach(async () => (client = (await sharedService()).in(someProject())))

  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()
  const turn = (id: string, thread_id: string, from: number, to: number, more: object = {}) => ({
    id,
    turn_id: id,
    thread_id,
    trace_id: id,
    started_at: at(from),
    ended_at: at(to),
    ...more,
  })
  const threads = (body: object = {}) => client.threads(body).lines()
  const idsOf = async (body: object = {}) => (await threads(body)).map(({ thread_id }) => thread_id as string)

  it('are made of their turns', async () => {
    await client.calls.complete([
      turn('a1', 'a', 0, 10),
      turn('a2', 'a', 1, 2),
      turn('a3', 'a', 5, 8),
      turn('inner', 'a', 6, 100, { turn_id: 'a3', parent_id: 'a3', trace_id: 'a3' }),
      turn('b1', 'b', 20, 21),
      turn('none', '', 0, 1),
      turn('untied', 'c', 0, 1, { turn_id: null }),
    ])
    assert.deepEqual(await threads(), [
      {
        thread_id: 'b',
        turn_count: 1,
        start_time: '2026-01-01T00:00:20.000000Z',
        last_updated: '2026-01-01T00:00:21.000000Z',
        first_turn_id: 'b1',
        last_turn_id: 'b1',
        p50_turn_duration_ms: 1000,
        p99_turn_duration_ms: 1000,
      },
      {
        thread_id: 'a',
        turn_count: 3,
        start_time: '2026-01-01T00:00:00.000000Z',
        last_updated: '2026-01-01T00:00:10.000000Z',
        first_turn_id: 'a1',
        last_turn_id: 'a1',
        p50_turn_duration_ms: 3000,
        p99_turn_duration_ms: 9860,
      },
    ])
  })

  it('have no duration when no turn has ended after its start', async () => {
    await client.calls.complete([turn('back', 'backwards', 10, 5)])
    await client.calls.start({ id: 'run', turn_id: 'run', thread_id: 'running', started_at: at(30) })
    const found = await threads()
    assert.deepEqual(
      found.map((one) => [
        one['thread_id'],
        one['p50_turn_duration_ms'],
        one['p99_turn_duration_ms'],
        one['last_turn_id'],
        one['last_updated'],
      ]),
      [
        ['running', null, null, null, '2026-01-01T00:00:30.000000Z'],
        ['backwards', null, null, 'back', '2026-01-01T00:00:05.000000Z'],
      ],
    )
    await client.calls.complete([turn('forth', 'backwards', 10, 10.5)])
    assert.equal((await threads({ filter: { thread_ids: ['backwards'] } }))[0]!['p50_turn_duration_ms'], 500)
  })

  it('are filtered, sorted and cut', async () => {
    await client.calls.complete([turn('a', 'a', 0, 30), turn('b', 'b', 10, 20), turn('c', 'c', 20, 25)])
    assert.deepEqual(await idsOf(), ['a', 'c', 'b'])
    assert.deepEqual(await idsOf({ filter: { thread_ids: [] } }), ['a', 'c', 'b'])
    assert.deepEqual(await idsOf({ filter: { thread_ids: ['b', 'x'] } }), ['b'])
    assert.deepEqual(await idsOf({ filter: { after_datetime: at(0) } }), ['c', 'b'])
    assert.deepEqual(await idsOf({ filter: { before_datetime: at(25) } }), ['b'])
    assert.deepEqual(await idsOf({ filter: { after_datetime: at(0), before_datetime: at(26) } }), ['c', 'b'])
    for (const [field, order] of [
      ['thread_id', ['a', 'b', 'c']],
      ['turn_count', ['a', 'b', 'c']],
      ['start_time', ['a', 'b', 'c']],
      ['last_updated', ['b', 'c', 'a']],
      ['p50_turn_duration_ms', ['c', 'b', 'a']],
      ['p99_turn_duration_ms', ['c', 'b', 'a']],
    ] as const)
      assert.deepEqual(await idsOf({ sort_by: [{ field, direction: 'asc' }] }), order, field)
    assert.deepEqual(await idsOf({ limit: 1, offset: 1 }), ['c'])
    for (const field of ['first_turn_id', 'last_turn_id', 'total_tokens', 'cost', 'x'])
      reasonOf(await client.threads({ sort_by: [{ field, direction: 'asc' }] }), 403)
    assert.deepEqual(told(await client.threads({ filter: { after_datetime: 'soon' } })), [
      'datetime_from_date_parsing filter.after_datetime',
    ])
  })

  it('omit deleted turns', async () => {
    await client.calls.complete([turn('a', 'a', 0, 1), turn('b', 'a', 2, 3)])
    await client.calls.delete('a').json()
    assert.deepEqual(
      (await threads()).map((one) => [one['turn_count'], one['first_turn_id']]),
      [[1, 'b']],
    )
  })
})
