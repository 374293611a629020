import assert from 'node:assert/strict'
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { COUNTS } from '../../counts.js'
import { accepted } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'
import type { TestService } from '../../support/service.js'

interface TracePage {
  readonly ids: readonly string[]
  readonly parents: readonly number[]
  readonly op_names: readonly string[]
  readonly ops: readonly number[]
  readonly display_names: Readonly<Record<string, string>>
  readonly started_us: number
  readonly starts: readonly number[]
  readonly durations: readonly (number | null)[]
  readonly status_names: readonly string[]
  readonly statuses: readonly number[]
  readonly own_tokens: readonly number[]
  readonly tokens: readonly number[]
  readonly own_costs: readonly number[]
  readonly costs: readonly number[]
  readonly own_unpriced: readonly number[]
  readonly unpriced: readonly number[]
  readonly feedback: Readonly<Record<string, number>>
  readonly orphans: readonly number[]
}

interface Explanation {
  readonly rows: readonly {
    readonly op: string
    readonly kind: string
    readonly call_id: string
    readonly units: number
    readonly unit_price: string | null
    readonly price_source: string | null
    readonly cost: string | null
    readonly counted: boolean
  }[]
}

const at = (second: number) => `2026-02-01T00:00:${String(second).padStart(2, '0')}.000000Z`

interface Given {
  readonly parent: number | null
  readonly tokens: number
  readonly model: string
  readonly isRunning: boolean
}

describe('POST /api/pages/trace', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const record = async (project_id: string, trace_id: string, calls: readonly Given[]) => {
    const batch = calls.flatMap(({ parent, tokens, model, isRunning }, n) => [
      {
        mode: 'start',
        req: {
          start: {
            project_id,
            trace_id,
            id: `${trace_id}-${n}`,
            parent_id: parent === null ? null : `${trace_id}-${parent}`,
            op_name: `op-${n % 3}`,
            started_at: at(n),
            attributes: {},
            inputs: {},
          },
        },
      },
      ...(isRunning
        ? []
        : [
            {
              mode: 'end',
              req: {
                end: {
                  project_id,
                  id: `${trace_id}-${n}`,
                  ended_at: at(n + 1),
                  exception: n % 5 === 4 ? 'failed' : null,
                  summary: {
                    usage: { [model]: { requests: 1, prompt_tokens: tokens, completion_tokens: 1 } },
                  },
                },
              },
            },
          ]),
    ])
    accepted(await service.post('/call/upsert_batch', { batch }))
  }

  const pageOf = async (project_id: string, trace_id: string) =>
    accepted(await service.post('/api/pages/trace', { project_id, trace_id })) as unknown as TracePage

  const explanationOf = async (project_id: string, trace_id: string, call_id: string) =>
    accepted(
      await service.post('/api/pages/explain', { project_id, trace_id, call_id }),
    ) as unknown as Explanation

  it('explains what an SDK had already added up', async () => {
    const project = someProject()
    await record(project, 'trace', [
      { parent: null, tokens: 7, model: 'gpt-4o-mini', isRunning: false },
      { parent: 0, tokens: 7, model: 'gpt-4o-mini', isRunning: false },
    ])
    const settings = { usage_reporting: 'rolled_up' }
    accepted(await service.send('PUT', `/api/projects/${project}`, settings))
    const { rows } = await explanationOf(project, 'trace', 'trace-0')
    assert.deepEqual(
      rows.map(({ op, kind, units, counted, call_id }) => [op, kind, units, counted, call_id]),
      [
        ['op-1', 'prompt_tokens', 7, true, 'trace-1'],
        ['op-1', 'completion_tokens', 1, true, 'trace-1'],
        ['op-0', 'prompt_tokens', 7, false, 'trace-0'],
        ['op-0', 'completion_tokens', 1, false, 'trace-0'],
      ].sort((a, b) => Number(b[3]) - Number(a[3])),
    )
    assert.equal(rows[0]!.price_source, 'default')
    assert.match(rows[0]!.unit_price!, /^0\.000000/)
  })

  it('shows each call with its place, time, state and op', async () => {
    const project = someProject()
    await record(project, 'trace', [
      { parent: null, tokens: 5, model: 'gpt-4o-mini', isRunning: false },
      { parent: 0, tokens: 7, model: 'gpt-4o-mini', isRunning: true },
      { parent: 99, tokens: 1, model: 'unheard-of', isRunning: false },
    ])
    accepted(
      await service.post('/call/update', { project_id: project, call_id: 'trace-1', display_name: 'A <b>' }),
    )
    const page = await pageOf(project, 'trace')
    assert.deepEqual(page.ids, ['trace-0', 'trace-1', 'trace-2'])
    assert.deepEqual(page.parents, [-1, 0, -1])
    assert.deepEqual(
      page.ops.map((op) => page.op_names[op]),
      ['op-0', 'op-1', 'op-2'],
    )
    assert.deepEqual(page.display_names, { 'trace-1': 'A <b>' })
    assert.equal(page.started_us, Date.parse(at(0)) * 1000)
    assert.deepEqual(page.starts, [0, 1_000_000, 2_000_000])
    assert.deepEqual(page.durations, [1_000_000, null, 1_000_000])
    assert.deepEqual(
      page.statuses.map((status) => page.status_names[status]),
      ['success', 'running', 'success'],
    )
    assert.deepEqual(page.orphans, [2])
    assert.deepEqual(page.unpriced, [2])
  })

  it('counts the feedback on each call', async () => {
    const project = someProject()
    await record(project, 'trace', [{ parent: null, tokens: 5, model: 'gpt-4o-mini', isRunning: false }])
    const feedback = { project_id: project, weave_ref: `weave:///${project}/call/trace-0` }
    for (const note of ['a', 'b'])
      accepted(
        await service.post('/feedback/create', {
          ...feedback,
          feedback_type: 'wandb.note.1',
          payload: { note },
        }),
      )
    assert.deepEqual((await pageOf(project, 'trace')).feedback, { 0: 2 })
  })

  it('is 404 for a trace that does not exist or is deleted', async () => {
    const project = someProject()
    assert.equal(
      (await service.post('/api/pages/trace', { project_id: project, trace_id: 'none' })).status,
      404,
    )
    await record(project, 'trace', [{ parent: null, tokens: 5, model: 'm', isRunning: false }])
    accepted(await service.post('/calls/delete', { project_id: project, call_ids: ['trace-0'] }))
    assert.equal(
      (await service.post('/api/pages/trace', { project_id: project, trace_id: 'trace' })).status,
      404,
    )
  })

  it('is compressed for clients that accept gzip', async () => {
    const project = someProject()
    const calls = Array.from({ length: 100 }, () => ({
      parent: null,
      tokens: 5,
      model: 'm',
      isRunning: false,
    }))
    await record(project, 'trace', calls)
    const ask = (encoding: string) =>
      service.post(
        '/api/pages/trace',
        { project_id: project, trace_id: 'trace' },
        { headers: { 'accept-encoding': encoding } },
      )
    assert.equal((await ask('gzip')).headers.get('content-encoding'), 'gzip')
    assert.equal((await ask('identity')).headers.get('content-encoding'), null)
    assert.equal((await ask('gzip;q=0')).headers.get('content-encoding'), null)
  })

  it('agrees with /trace/usage on every call', async function () {
    this.timeout(120_000)
    const call = fc.record({
      above: fc.nat(9),
      tokens: fc.nat(1_000_000),
      model: fc.constantFrom('gpt-4o-mini', 'claude-3-5-sonnet-20241022', 'unheard-of'),
      isRunning: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), async (calls) => {
        const [project, trace] = [someProject(), randomUUID()]
        await record(
          project,
          trace,
          calls.map(({ above, ...given }, n) => ({ ...given, parent: n === 0 ? null : above % n })),
        )
        const page = await pageOf(project, trace)
        const { call_usage } = accepted(
          await service.post('/trace/usage', { project_id: project, include_costs: true }),
        ) as { call_usage: Record<string, Record<string, Record<string, number | null>>> }
        for (const [row, id] of page.ids.entries()) {
          const used = Object.values(call_usage[id] ?? {})
          const sum = (of: (model: (typeof used)[number]) => number) =>
            used.reduce((all, one) => all + of(one), 0)
          assert.equal(
            page.tokens[row],
            sum(({ total_tokens }) => total_tokens ?? 0),
          )
          const cost = sum(
            ({ prompt_tokens_total_cost: input, completion_tokens_total_cost: output }) =>
              (input ?? 0) + (output ?? 0),
          )
          assert.ok(Math.abs(page.costs[row]! - cost) <= 1e-9 * Math.max(1, cost))
          const { rows } = await explanationOf(project, trace, id)
          const counted = rows.filter((one) => one.counted)
          const explainedCost = counted.reduce((all, one) => all + Number(one.cost ?? 0), 0)
          assert.ok(Math.abs(explainedCost - cost) <= 1e-9 * Math.max(1, cost))
          assert.equal(
            counted.reduce((all, { units }) => all + units, 0),
            page.tokens[row],
          )
          assert.equal(
            page.unpriced.includes(row),
            used.some(({ prompt_tokens_total_cost }) => prompt_tokens_total_cost === null),
          )
        }
        const roots = [...page.ids.keys()].filter((row) => page.parents[row] === -1)
        const total = roots.reduce((all, row) => all + page.tokens[row]!, 0)
        assert.equal(
          total,
          page.own_tokens.reduce((all, one) => all + one, 0),
        )
      }),
      { numRuns: COUNTS.tracePages },
    )
  })
})
