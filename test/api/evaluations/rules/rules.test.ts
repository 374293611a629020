import assert from 'node:assert/strict'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import type { TestService } from '../../../support/service.js'
import { givenTeam } from '../../webhooks/given.js'
import { scorerObject } from '../logged-run.js'
import { sharedService } from '../../shared-service.js'
import { accepted, reasonOf, textIn, told, writesNothing } from '../../calls/given.js'

describe('evaluation rules over HTTP', () => {
  let service: TestService
  let team: Awaited<ReturnType<typeof givenTeam>>
  let project: string
  let rules: string
  let exact: string
  before(async () => {
    service = await sharedService()
    team = await givenTeam(service)
    project = `${team.team}/project`
    rules = `/api/evaluation-rules/${project}`
    exact = await service.in(project).objects.publish('exact', scorerObject('ExactMatchScorer'))
  })

  const aRule = (more: object = {}) => ({ name: 'rule', scorer_refs: [exact], ...more })
  const create = (more: object = {}, headers: Record<string, string> = {}) =>
    team.send('POST', rules, aRule(more), { headers })

  it('are created with defaults, read, listed, changed and deleted', async () => {
    const created = accepted(await create())
    const id = textIn(created, 'id')
    assert.deepEqual(created, {
      id,
      project_id: project,
      name: 'rule',
      sample_rate: 1,
      scorer_refs: [exact],
      enabled: true,
      filter: { op_names: null, trace_roots_only: false, query: null },
      wb_user_id: created['wb_user_id'],
    })
    assert.deepEqual(accepted(await team.send('GET', `${rules}/${id}`)), created)
    const query = { $expr: { $eq: [{ $getField: 'op_name' }, { $literal: 'a' }] } }
    const change = { sample_rate: 0.5, filter: { op_names: ['a'], query } }
    const changed = accepted(await team.send('PATCH', `${rules}/${id}`, change))
    assert.deepEqual(changed, {
      ...created,
      sample_rate: 0.5,
      filter: { op_names: ['a'], trace_roots_only: false, query },
    })
    await writesNothing(service, async () => {
      accepted(await team.send('PATCH', `${rules}/${id}`, change))
    })
    const { data } = accepted(await team.send('GET', rules)) as unknown as { data: JsonObject[] }
    assert.deepEqual(
      data.find((one) => one['id'] === id),
      changed,
    )
    accepted(await team.send('DELETE', `${rules}/${id}`))
    accepted(await team.send('DELETE', `${rules}/${id}`))
    reasonOf(await team.send('GET', `${rules}/${id}`), 404)
    reasonOf(await team.send('PATCH', `${rules}/${id}`, { enabled: false }), 404)
  })

  it('are changed and deleted by who made them, and by administrators of the project', async () => {
    const { keys } = team
    const as = (key: string, method: string, id: string, body?: unknown) =>
      team.send(method, `${rules}/${id}`, body, { key })
    const made = async (key: string) =>
      textIn(accepted(await team.send('POST', rules, aRule(), { key })), 'id')
    const change = { enabled: false }
    const ofAdministrator = await made(keys.team_administrator)
    await writesNothing(service, async () => {
      for (const [method, body] of [
        ['PATCH', change],
        ['DELETE', undefined],
      ] as const)
        assert.equal(
          reasonOf(await as(keys.member, method, ofAdministrator, body), 403),
          `This requires the role project_administrator:project in team ${team.team}.`,
        )
    })
    accepted(await as(keys.project_administrator, 'PATCH', ofAdministrator, change))
    accepted(await as(keys.team_administrator, 'DELETE', ofAdministrator))
    const own = await made(keys.member)
    accepted(await as(keys.member, 'PATCH', own, change))
    // It acts for the administrator from then on.
    accepted(await as(keys.team_administrator, 'PATCH', own, { enabled: true }))
    reasonOf(await as(keys.member, 'DELETE', own), 403)
    const other = await made(keys.member)
    accepted(await as(keys.member, 'DELETE', other))
    accepted(await as(keys.member, 'DELETE', other))
  })

  it('are created once under an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'rule-once' }
    const first = accepted(await create({}, headers))
    assert.deepEqual(accepted(await create({}, headers)), first)
    reasonOf(await create({ name: 'other' }, headers), 409)
  })

  it('name the field that does not fit, and write nothing', () =>
    writesNothing(service, async () => {
      for (const rate of [0, -1, 1.5])
        assert.deepEqual(told(await create({ sample_rate: rate })), ['value_error sample_rate'])
      assert.deepEqual(told(await create({ scorer_refs: [] })), ['too_short scorer_refs'])
      assert.deepEqual(told(await create({ scorer_refs: ['exact'] })), ['value_error scorer_refs.0'])
      assert.deepEqual(told(await create({ scorer_refs: [exact, exact] })), ['value_error scorer_refs.1'])
      reasonOf(await create({ scorer_refs: [`weave:///${project}/object/none:v0`] }), 404)
      assert.equal((await create({ filter: { query: { $expr: { $eq: [] } } } })).status, 422)
      assert.equal((await create({ filter: { unknown: 1 } })).status, 422)
      const query = { $expr: { $eq: [{ $getField: 'no_such_field' }, { $literal: 1 }] } }
      assert.equal((await create({ filter: { query } })).status, 403)
      reasonOf(await create({ filter: { op_names: Array.from({ length: 1001 }, () => 'a') } }), 400)
      assert.equal((await create({ name: 'a'.repeat(257) })).status, 422)
    }))

  it('of another team are a 404 without a hint', async () => {
    const id = textIn(accepted(await create()), 'id')
    const as = { key: team.stranger }
    const [known, unknown] = await Promise.all([
      service.send('GET', `${rules}/${id}`, undefined, as),
      service.send('GET', `/api/evaluation-rules/no-such-team/p/${id}`, undefined, as),
    ])
    assert.deepEqual([known.status, known.text], [404, unknown.text])
    await writesNothing(service, async () => {
      reasonOf(await service.send('GET', rules, undefined, as), 404)
      reasonOf(await service.send('POST', rules, aRule(), as), 404)
      reasonOf(await service.send('PATCH', `${rules}/${id}`, { enabled: false }, as), 404)
      reasonOf(await service.send('DELETE', `${rules}/${id}`, undefined, as), 404)
    })
    const own = `/api/evaluation-rules/${team.other}/project`
    reasonOf(await service.send('GET', `${own}/${id}`, undefined, as), 404)
    reasonOf(await service.send('POST', own, aRule(), as), 404)
  })
})
