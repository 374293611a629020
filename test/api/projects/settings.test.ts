import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, eventsOf, told, writesNothing } from '../calls/given.js'

interface Value {
  readonly value: string
  readonly calls: number
}

describe('how a project’s calls report usage', () => {
  let service: TestService
  before(async () => (service = await sharedService()))
  const put = (project: string, body: unknown) => service.send('PUT', `/api/projects/${project}`, body)

  it('can be chosen, and choosing the same again writes nothing', async () => {
    const project = someProject()
    await writesNothing(service, () => put('default/untouched', { usage_reporting: 'auto' }))
    for (const usage_reporting of ['own', 'rolled_up', 'auto']) {
      assert.deepEqual(accepted(await put(project, { usage_reporting })), {
        usage_reporting,
        record: 'all',
        cache_seconds: 0,
        end_user_attribute: '',
        retention: { content_days: 0, except: [], figures_days: 0 },
      })
      await writesNothing(service, async () => accepted(await put(project, { usage_reporting })))
      const read = accepted(await service.send('GET', `/api/projects/${project}`))
      assert.deepEqual(read, {
        ...{ usage_reporting, record: 'all', cache_seconds: 0, end_user_attribute: '' },
        retention: { content_days: 0, except: [], figures_days: 0 },
      })
    }
    assert.equal((await eventsOf(service, `project-${project}`)).length, 3)
  })

  it('cannot be chosen for a project that the addresses of pages name', async () => {
    assert.deepEqual(told(await put('default/-', { usage_reporting: 'own' })), ['value_error project_id'])
  })

  it('is one of three words', async () => {
    const project = someProject()
    assert.deepEqual(told(await put(project, {})), ['missing '])
    for (const usage_reporting of ['', 'AUTO', 'other', null, 7, true, [], {}, 'constructor'])
      assert.deepEqual(told(await put(project, { usage_reporting })), ['literal_error usage_reporting'])
    assert.deepEqual(told(await put(project, { usage_reporting: 'own', project_id: 'a/b' })), [
      'extra_forbidden project_id',
    ])
  })

  it('is chosen apart from what is recorded of completions, and together with it', async () => {
    const project = someProject()
    const both = { usage_reporting: 'own', record: 'metadata', cache_seconds: 60, end_user_attribute: 'a.b' }
    const retention = { content_days: 0, except: [], figures_days: 0 }
    assert.deepEqual(accepted(await put(project, both)), { ...both, retention })
    await writesNothing(service, async () => accepted(await put(project, both)))
    assert.deepEqual(accepted(await put(project, { usage_reporting: 'auto' })), {
      usage_reporting: 'auto',
      record: 'metadata',
      cache_seconds: 60,
      end_user_attribute: 'a.b',
      retention,
    })
    assert.deepEqual(accepted(await put(project, { record: 'all', cache_seconds: 0 })), {
      usage_reporting: 'auto',
      record: 'all',
      cache_seconds: 0,
      end_user_attribute: 'a.b',
      retention,
    })
    for (const record of ['', 'none', null, 1, {}])
      assert.deepEqual(told(await put(project, { record })), ['literal_error record'])
  })

  it('names the attribute with the end user, which counts before the usual ones', async () => {
    const project = someProject()
    const attributes = [
      { customer: { id: 'ada' }, user: 'someone' },
      { 'customer.id': 'ada' },
      { customer: { id: 7 }, user: 'someone' },
      { customer: { id: '' }, user: 'bob' },
      { customer: 'none', user_id: 'bob' },
      {},
    ]
    const started_at = '2026-03-01T00:00:00Z'
    for (const [n, one] of attributes.entries())
      await service
        .in(project)
        .calls.start({ id: `call-${n}`, started_at, attributes: one })
        .json()
    const path = `/api/pages/values?project_id=${project}&field=end_user`
    const users = async (headers = {}) =>
      (accepted(await service.send('GET', path, undefined, { headers }))['data'] as unknown as Value[]).map(
        ({ value, calls }) => [value, calls],
      )
    const before = await service.send('GET', path)
    const usual = [
      ['bob', 2],
      ['someone', 2],
    ]
    assert.deepEqual(await users(), usual)
    accepted(await put(project, { end_user_attribute: 'customer.id' }))
    const own = [
      ['ada', 2],
      ['bob', 2],
      ['7', 1],
    ]
    assert.deepEqual(await users(), own)
    const count = async (user: string) => {
      const $expr = { $eq: [{ $getField: 'end_user' }, { $literal: user }] }
      return (accepted(await service.in(project).calls.count({ query: { $expr } })) as { count: number })
        .count
    }
    assert.deepEqual(await Promise.all(['ada', 'bob', '7', 'someone'].map(count)), [2, 2, 1, 0])
    const past = { 'Tallytree-As-Of': before.headers.get('tallytree-position')! }
    assert.deepEqual(await users(past), usual)
    accepted(await put(project, { end_user_attribute: String.raw`customer\.id` }))
    assert.deepEqual(await users(), [
      ['bob', 2],
      ['someone', 2],
      ['ada', 1],
    ])
    accepted(await put(project, { end_user_attribute: '' }))
    assert.deepEqual(await users(), usual)
    for (const end_user_attribute of ['a..b', '.', 'a'.repeat(201)])
      assert.equal((await put(project, { end_user_attribute })).status, 422)
  })

  it('is that of a project that can be one', async () => {
    for (const odd of ['a%20b/p', 'a%2Fb/p', '%00/p', `${'e'.repeat(129)}/p`]) {
      const answer = await put(odd, { usage_reporting: 'own' })
      assert.equal(answer.status, 422)
      assert.match(answer.text, /"loc":\["path","project"\]/)
    }
  })
})
