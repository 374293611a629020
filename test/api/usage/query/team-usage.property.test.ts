import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { COUNTS } from '../../../counts.js'
import { aCompleted } from '../../../support/call-requests.js'
import type { TestService } from '../../../support/service.js'
import { accepted, textIn } from '../../calls/given.js'
import { setCosts, someCosts, tokens } from '../../prices/given.js'
import { sharedService } from '../../shared-service.js'

interface Answer {
  readonly rows: readonly {
    readonly group: Readonly<Record<string, string>>
    readonly usage: Readonly<Record<string, number | null>>
  }[]
  readonly others: { readonly groups: number; readonly usage: { readonly total_tokens: number } } | null
  readonly totals: { readonly usage: Readonly<Record<string, number | null>> }
}

const RANGE = { start: '2026-02-01T00:00:00Z', end: '2026-02-04T00:00:00Z', include_costs: true }

const aCall = fc.record({
  project: fc.constantFrom('one', 'two', 'three'),
  model: fc.constantFrom('priced', 'without a price', 'other'),
  op_name: fc.constantFrom('agent', 'weave:///team/project/op/chat:v1'),
  count: fc.nat(1000),
  day: fc.nat(2),
  key: fc.option(fc.constantFrom('key-1', 'key-2')),
})

type Call = typeof aCall extends fc.Arbitrary<infer C> ? C : never

const literal = ($literal: unknown) => ({ $literal })
const equals = (field: string, value: unknown) => ({ $eq: [{ $getField: field }, literal(value)] })

describe('usage of a team', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const ask = async (body: object) =>
    accepted(await service.post('/usage/query', { ...RANGE, limit: 1000, ...body })) as unknown as Answer

  const record = async (team: string, calls: readonly Call[]) => {
    for (const [n, price] of [0.000_001, 0.1].entries())
      await setCosts(service, `${team}/${['one', 'two'][n]}`, {
        priced: someCosts({ prompt_token_cost: price, effective_date: '2020-01-01T00:00:00Z' }),
      })
    for (const project of new Set(calls.map((call) => call.project))) {
      const id = `${team}/${project}`
      const batch = calls
        .filter((call) => call.project === project)
        .map(({ model, op_name, count, day, key }) =>
          aCompleted(id, {
            op_name,
            started_at: `2026-02-0${day + 1}T12:00:00.000000Z`,
            ended_at: `2026-02-0${day + 1}T12:00:01.000000Z`,
            attributes: key === null ? {} : { tallytree: { key_id: key } },
            summary: { usage: { [model]: tokens(count, 1) } },
          }),
        )
      accepted(await service.post(`/v2/${id}/calls/complete`, { batch }))
    }
  }

  it('is that of its projects, and each group counts the calls that its conditions select', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aCall, { minLength: 1, maxLength: 30 }), async (calls) => {
        const team = `team-${randomUUID().slice(0, 8)}`
        await record(team, calls)
        const projects = [...new Set(calls.map(({ project }) => project))].sort()
        const whole = await ask({ team, group_by: ['project', 'model', 'key'] })
        const parts = await Promise.all(
          projects.map((project) =>
            ask({ project_id: `${team}/${project}`, group_by: ['project', 'model', 'key'] }),
          ),
        )
        const byGroup = (answers: readonly Answer[]) =>
          new Map(answers.flatMap(({ rows }) => rows.map((row) => [JSON.stringify(row.group), row.usage])))
        assert.deepEqual(byGroup([whole]), byGroup(parts))

        const byDay = await ask({ team, group_by: ['day'] })
        const sum = (answers: readonly Answer[], name: string) =>
          answers.reduce((all, { totals }) => all + Number(totals.usage[name]), 0)
        assert.equal(sum([byDay], 'total_tokens'), sum(parts, 'total_tokens'))
        assert.equal(sum([byDay], 'calls'), calls.length)
        const first = await ask({ team, group_by: ['key', 'day'], limit: 1 })
        assert.equal(
          Number(first.rows[0]!.usage['total_tokens']) + (first.others?.usage.total_tokens ?? 0),
          sum(parts, 'total_tokens'),
        )

        const selected = async (project: string, conditions: readonly object[]) => {
          const query = { $expr: { $and: conditions } }
          return accepted(
            await service.post('/calls/query_stats', { project_id: `${team}/${project}`, query }),
          )['count']
        }
        for (const { group, usage } of whole.rows) {
          const ofKey = equals('attributes.tallytree.key_id', group['key'])
          const used = (model: string) => ({ $usedModel: [model, 'own'] })
          assert.equal(usage['calls'], await selected(group['project']!, [used(group['model']!), ofKey]))
        }
        const byOp = await ask({ project_id: `${team}/${projects[0]}`, group_by: ['op'] })
        for (const { group, usage } of byOp.rows)
          assert.equal(
            usage['calls'],
            await selected(projects[0]!, [
              { $usedModel: ['*', 'own'] },
              equals('summary.weave.op', group['op']),
            ]),
          )
      }),
      { numRuns: COUNTS.teamUsages },
    )
  })

  it('is the 404 of a team that does not exist for others, and needs one of team and project', async () => {
    const team = `team-${randomUUID().slice(0, 8)}`
    await record(team, [{ project: 'one', model: 'priced', op_name: 'agent', count: 1, day: 0, key: null }])
    const other = `other-${randomUUID().slice(0, 8)}`
    accepted(await service.post('/api/teams', { name: other }))
    const key = textIn(
      accepted(await service.post(`/api/teams/${other}/members`, { user: `user-${other}`, role: 'member' })),
      'api_key',
    )
    const foreign = await service.post('/usage/query', { team }, { key })
    const missing = await service.post('/usage/query', { team: 'there-is-none' }, { key })
    assert.equal(foreign.status, 404)
    assert.equal(foreign.text, missing.text)
    for (const body of [{}, { team, project_id: `${team}/one` }])
      assert.equal((await service.post('/usage/query', body)).status, 422)
    const csv = await service.post('/usage/query', { team, group_by: ['project'], format: 'csv' })
    assert.match(csv.text, /^project,groups/)
    const parquet = await service.post('/usage/query', {
      ...{ team, group_by: ['project', 'day'], start: '2026-01-01T00:00:00Z', format: 'parquet' },
    })
    assert.equal(parquet.text.slice(0, 4), 'PAR1')
    assert.equal(parquet.headers.get('content-disposition'), `attachment; filename="usage-${team}.parquet"`)
  })
})
