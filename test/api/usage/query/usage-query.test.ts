import assert from 'node:assert/strict'
import type { Answered } from '../../../support/client.js'
import type { TestService } from '../../../support/service.js'
import { recordCalls, setCosts, someCosts, someModel, startedAt, tokens } from '../../prices/given.js'
import { sharedService, someProject } from '../../shared-service.js'
import { accepted, told } from '../../calls/given.js'

interface Figures {
  readonly calls: number
  readonly total_tokens: number
  readonly prompt_tokens: number
  readonly total_cost: number | null
}
interface Row {
  readonly group: Readonly<Record<string, string>>
  readonly usage: Figures
  readonly previous?: Figures
}
interface Answer {
  readonly rows: readonly Row[]
  readonly others: { readonly groups: number; readonly usage: Figures } | null
  readonly totals: { readonly groups: number; readonly usage: Figures; readonly previous?: Figures }
}

describe('usage by group', () => {
  let service: TestService
  let project: string
  let model: string
  before(async () => {
    service = await sharedService()
    project = someProject()
    model = someModel()
    await setCosts(service, project, {
      [model]: someCosts({ prompt_token_cost: 1, effective_date: '2026-01-01T00:00:00Z' }),
    })
    await setCosts(service, project, {
      [model]: someCosts({ prompt_token_cost: 4, effective_date: '2026-01-02T00:00:00Z' }),
    })
    const production = { attributes: { environment: 'production' } }
    await recordCalls(service, project, [
      [
        'root',
        null,
        {},
        startedAt('2026-01-01T10:00:00Z', { op_name: 'agent', thread_id: 'a', ...production }),
      ],
      [
        'one',
        'root',
        { [model]: tokens(3, 1) },
        startedAt('2026-01-01T11:00:00Z', { op_name: 'chat', ...production }),
      ],
      [
        'two',
        'root',
        { [model]: tokens(5, 0), other: tokens(7, 7) },
        startedAt('2026-01-02T11:00:00Z', { op_name: 'chat' }),
      ],
      [
        'three',
        'two',
        { other: tokens(1, 0) },
        startedAt('2026-01-02T12:00:00Z', { op_name: 'tool', exception: 'no' }),
      ],
      [
        'later',
        null,
        { other: tokens(100, 0) },
        startedAt('2026-01-05T12:00:00Z', { op_name: 'tool', trace_id: 'other' }),
      ],
    ])
  })

  const ask = (more: object = {}, headers = {}): Promise<Answered> =>
    service.in(project).with({ headers }).usage.query(more)
  const answered = async (more: object = {}): Promise<Answer> =>
    accepted(await ask(more)) as unknown as Answer
  const byGroup = ({ rows }: Answer, measure: keyof Figures = 'total_tokens') =>
    rows.map(({ group, usage }) => [...Object.values(group), usage[measure]])

  it('sums up all own usage without groups', async () => {
    const { rows, others, totals } = await answered()
    assert.deepEqual(rows.length, 1)
    assert.equal(others, null)
    assert.equal(totals.usage.total_tokens, 4 + 5 + 14 + 1 + 100)
    assert.equal(totals.usage.calls, 4)
    assert.equal(totals.usage.total_cost, null)
  })

  it('groups by model, op, status and op of the root', async () => {
    assert.deepEqual(byGroup(await answered({ group_by: ['model'] })), [
      ['other', 115],
      [model, 9],
    ])
    assert.deepEqual(byGroup(await answered({ group_by: ['op'] })), [
      ['tool', 101],
      ['chat', 23],
    ])
    assert.deepEqual(byGroup(await answered({ group_by: ['status'] })), [
      ['success', 123],
      ['error', 1],
    ])
    assert.deepEqual(byGroup(await answered({ group_by: ['root_op'] })), [
      ['tool', 100],
      ['agent', 24],
    ])
  })

  it('counts descendants in inclusive usage', async () => {
    assert.deepEqual(byGroup(await answered({ group_by: ['op'], usage: 'inclusive' })), [
      ['tool', 101],
      ['agent', 24],
      ['chat', 24],
    ])
    const roots = { filter: { trace_roots_only: true }, usage: 'inclusive' }
    assert.equal((await answered(roots)).totals.usage.total_tokens, 124)
  })

  it('prices own and inclusive usage by when each call started', async () => {
    const costs = { include_costs: true, group_by: ['model'], filter: { trace_ids: ['t'] } }
    const own = 3 + 2 + 5 * 4
    assert.deepEqual(byGroup(await answered(costs), 'total_cost'), [
      [model, own],
      ['other', null],
    ])
    const inclusive = { ...costs, usage: 'inclusive', filter: { trace_roots_only: true, trace_ids: ['t'] } }
    assert.deepEqual(byGroup(await answered(inclusive), 'total_cost'), [
      [model, own],
      ['other', null],
    ])
    assert.equal((await ask(costs)).headers.get('tallytree-unpriced-models'), '1')
  })

  it('groups by day, week and month of a time zone', async () => {
    const range = { start: '2026-01-01T00:00:00Z', end: '2026-01-06T00:00:00Z' }
    assert.deepEqual(byGroup(await answered({ ...range, group_by: ['day'] })), [
      ['2026-01-01T00:00:00.000000Z', 4],
      ['2026-01-02T00:00:00.000000Z', 20],
      ['2026-01-05T00:00:00.000000Z', 100],
    ])
    assert.deepEqual(byGroup(await answered({ ...range, group_by: ['week'], timezone: 'Europe/Berlin' })), [
      ['2025-12-28T23:00:00.000000Z', 24],
      ['2026-01-04T23:00:00.000000Z', 100],
    ])
    assert.deepEqual(byGroup(await answered({ ...range, group_by: ['month'] })), [
      ['2026-01-01T00:00:00.000000Z', 124],
    ])
  })

  it('groups by an attribute, and selects by a query', async () => {
    assert.deepEqual(byGroup(await answered({ group_by: ['attributes.environment'] })), [
      ['', 120],
      ['production', 4],
    ])
    const query = { $expr: { $eq: [{ $getField: 'op_name' }, { $literal: 'chat' }] } }
    assert.deepEqual(byGroup(await answered({ group_by: ['model'], query })), [
      ['other', 14],
      [model, 9],
    ])
  })

  it('sums up the groups beyond the limit', async () => {
    const { rows, others, totals } = await answered({ group_by: ['op', 'model'], limit: 1 })
    assert.equal(rows.length, 1)
    assert.equal(others?.groups, 2)
    assert.equal(rows[0]!.usage.total_tokens + others.usage.total_tokens, totals.usage.total_tokens)
  })

  it('compares with the period before', async () => {
    const { rows, totals } = await answered({
      start: '2026-01-02T00:00:00Z',
      end: '2026-01-03T00:00:00Z',
      group_by: ['model'],
      compare: 'previous_period',
    })
    assert.equal(totals.usage.total_tokens, 20)
    assert.equal(totals.previous?.total_tokens, 4)
    assert.deepEqual(
      rows.map(({ group, previous }) => [group['model'], previous?.total_tokens]),
      [
        ['other', 0],
        [model, 4],
      ],
    )
  })

  it('writes JSON lines, CSV and Parquet', async () => {
    const asked = { group_by: ['op'], include_costs: true }
    const lines = (await ask({ ...asked, format: 'ndjson' })).text.trim().split('\n')
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as Row).group['op']),
      ['chat', 'tool'],
    )
    const csv = await ask({ ...asked, format: 'csv' })
    assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/)
    const [head, first] = csv.text.split('\r\n')
    assert.match(head!, /^op,groups,calls,/)
    assert.match(first!, /^chat,1,2,/)
    const parquet = await ask({ ...asked, format: 'parquet' })
    assert.equal(parquet.status, 200)
    assert.equal(parquet.text.slice(0, 4), 'PAR1')
  })

  it('answers as of an earlier position', async () => {
    const before = accepted(await ask({}))
    const position = (await ask({})).headers.get('tallytree-position')!
    await recordCalls(service, project, [
      ['new', 'root', { other: tokens(50, 0) }, startedAt('2026-01-03T00:00:00Z')],
    ])
    const now = (await answered()).totals.usage.total_tokens
    const asOf = accepted(await ask({}, { 'Tallytree-As-Of': position })) as unknown as Answer
    assert.deepEqual(asOf, before)
    assert.equal(now, asOf.totals.usage.total_tokens + 50)
    await service.in(project).calls.delete('new').json()
    assert.equal((await answered()).totals.usage.total_tokens, now - 50)
  })

  it('selects no call by an empty thread or user, like other reads', async () => {
    for (const filter of [{ thread_ids: [''] }, { wb_user_ids: [''] }]) {
      assert.deepEqual((await answered({ filter })).rows, [])
      const counted = await service.in(project).calls.count({ filter })
      assert.equal(accepted(counted)['count'], 0)
    }
    const mixed = await answered({ filter: { thread_ids: ['', 'none'] } })
    assert.deepEqual(mixed.rows, [])
  })

  it('shows counts beyond 2^53 as 2^53, as JSON and in CSV', async () => {
    const large = someProject()
    const usage = { large: tokens(2 ** 53), other: tokens(1) }
    const calls = Array.from({ length: 3 }, (_, n): [string, null, object] => [`c${n}`, null, usage])
    await recordCalls(service, large, calls)
    const asked = { project_id: large, group_by: ['model'], sort_by: [{ field: 'model', direction: 'asc' }] }
    const { rows } = accepted(await service.post('/usage/query', asked)) as unknown as Answer
    assert.deepEqual(byGroup({ rows } as Answer, 'prompt_tokens'), [
      ['large', 2 ** 53],
      ['other', 3],
    ])
    const csv = (await service.post('/usage/query', { ...asked, format: 'csv' })).text.split('\n')
    const column = csv[0]!.split(',').indexOf('prompt_tokens')
    assert.deepEqual(
      csv.slice(1, 3).map((line) => line.split(',')[column]),
      ['9007199254740992', '3'],
    )
  })

  it('is empty for a project without calls', async () => {
    const { rows, totals } = (await service
      .in(someProject())
      .usage.query({ group_by: ['model'] })
      .json()) as unknown as Answer
    assert.deepEqual(rows, [])
    assert.equal(totals.usage.total_tokens, 0)
  })

  const invalid: readonly (readonly [string, object, string])[] = [
    ['an unknown dimension', { group_by: ['colour'] }, 'value_error group_by.0'],
    ['a repeated dimension', { group_by: ['op', 'op'] }, 'value_error group_by.1'],
    ['four dimensions', { group_by: ['op', 'model', 'user', 'run'] }, 'too_long group_by'],
    ['times without a start', { group_by: ['day'] }, 'value_error start'],
    ['a comparison without a start', { compare: 'previous_period' }, 'value_error start'],
    [
      'an end before the start',
      { start: '2026-01-02T00:00:00Z', end: '2026-01-01T00:00:00Z' },
      'value_error end',
    ],
    ['an unknown time zone', { timezone: 'Mars/Base' }, 'value_error timezone'],
    ['an order by nothing that exists', { sort_by: [{ field: 'size' }] }, 'value_error sort_by.0.field'],
    ['an order by cost without costs', { sort_by: [{ field: 'total_cost' }] }, 'value_error sort_by.0.field'],
    ['a price list without costs', { price_list: 'some' }, 'value_error price_list'],
    ['a limit of 0', { limit: 0 }, 'greater_than_equal limit'],
    ['an unknown format', { format: 'xml' }, 'literal_error format'],
  ]
  for (const [name, more, problem] of invalid)
    it(`refuses ${name}`, async () => assert.deepEqual(told(await ask(more)), [problem]))
})
