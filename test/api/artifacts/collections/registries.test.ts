import assert from 'node:assert/strict'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import type { TestService } from '../../../support/service.js'
import { admit, givenTeam } from '../given.js'
import { sharedService } from '../../shared-service.js'
import { accepted, eventsOf, reasonOf, textIn, told, writesNothing } from '../../calls/given.js'

interface Registered extends JsonObject {
  readonly version: string
  readonly aliases: readonly string[]
}

describe('registries', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  /** A team with a registry `models` and a project whose collection `model` has three versions. */
  const given = async () => {
    const { team, keyOf } = await givenTeam(service)
    const [member, administrator] = [await keyOf('member'), await keyOf('registry_administrator')]
    accepted(await service.post('/api/registries', { name: 'models', team }, { key: administrator }))
    for (const a of [0, 1, 2])
      accepted(
        await service.post(
          `/api/artifacts/${team}/project/model/versions`,
          { metadata: { a }, type: 'model' },
          { key: member },
        ),
      )
    const send = (method: string, at: string, body?: unknown, key = member) =>
      service.send(method, `/api/registries/models/good${at}`, body, { key })
    const source = (version: string) => ({ entity: team, project: 'project', collection: 'model', version })
    return {
      team,
      keyOf,
      member,
      administrator,
      send,
      source,
      link: async (version: string) =>
        textIn(accepted(await send('POST', '/links', source(version))), 'version'),
      list: async () =>
        (accepted(await send('GET', '/versions')) as unknown as { data: readonly Registered[] }).data,
      events: () => eventsOf(service, `registered-${team}/models/good`),
    }
  }

  describe('of a team', () => {
    it('are created by those who administer them, once each, and listed by name', async () => {
      const { team, member, administrator } = await given()
      const create = (name: string, key: string, headers = {}) =>
        service.post('/api/registries', { name, team }, { key, headers })
      assert.match(reasonOf(await create('data', member), 403), /registry_administrator/)
      const headers = { 'Idempotency-Key': 'once' }
      const made = accepted(await create('data', administrator, headers))
      await writesNothing(service, async () => {
        assert.deepEqual(accepted(await create('data', administrator, headers)), made)
        const taken = await create('data', administrator)
        reasonOf(taken, 409)
        assert.deepEqual([taken.json()['id'], taken.json()['name']], [made['id'], 'data'])
        reasonOf(await create('other', administrator, headers), 409)
        for (const [body, ...problems] of [
          [{}, 'missing name', 'missing team'],
          [{ name: 'a/b', team }, 'string_pattern_mismatch name'],
          [{ name: '', team, id: 'mine' }, 'string_pattern_mismatch name', 'extra_forbidden id'],
        ] as const)
          assert.deepEqual(
            told(await service.post('/api/registries', body, { key: administrator })),
            problems,
          )
      })
      const list = (query: string) =>
        service.send('GET', `/api/registries?team=${team}${query}`, undefined, { key: member })
      const names = async (query: string) =>
        (
          accepted(await list(query)) as unknown as { data: { name: string }[]; next: string | null }
        ).data.map(({ name }) => name)
      assert.deepEqual(await names(''), ['data', 'models'])
      assert.deepEqual(await names('&limit=1'), ['data'])
      assert.deepEqual(await names('&limit=1&after=data'), ['models'])
      assert.equal((await list('&limit=1001')).status, 422)
      assert.equal((await service.send('GET', '/api/registries', undefined, { key: member })).status, 422)
    })

    it('come into being with the team that the administrator names', async () => {
      const team = `team-of-${Date.now()}`
      accepted(await service.post('/api/registries', { name: 'models', team }))
      const made = accepted(await service.send('GET', `/api/registries?team=${team}`))
      assert.equal((made['data'] as readonly unknown[]).length, 1)
    })

    it('are different ones in teams where one user creates them under the same Idempotency-Key', async () => {
      const headers = { 'Idempotency-Key': 'once' }
      const [one, other] = [`one-of-${Date.now()}`, `other-of-${Date.now()}`]
      const create = async (team: string) =>
        textIn(accepted(await service.post('/api/registries', { name: 'models', team }, { headers })), 'id')
      assert.notEqual(await create(one), await create(other))
      assert.equal(await create(one), await create(one))
    })

    it('cannot be told from none at all by others', async () => {
      const { team, send, link, source } = await given()
      await link('v0')
      const stranger = await (await givenTeam(service)).keyOf('team_administrator')
      const asking = (registry: string, at: string, of: string, body?: unknown, method = 'GET') =>
        service.send(method, `/api/registries/${registry}/good${at}${of}`, body, { key: stranger })
      for (const [method, at, body] of [
        ['GET', '/versions'],
        ['GET', '/versions/v0'],
        ['POST', '/links', source('v0')],
        ['DELETE', '/links/v0'],
        ['POST', '/versions/v0/aliases', { alias: 'x' }],
        ['POST', '/versions/v0/tags', { tag: 'x' }],
        ['DELETE', '/aliases/x'],
        ['DELETE', '/versions/v0/tags/x'],
      ] as const)
        await writesNothing(service, async () => {
          const answers = await Promise.all([
            asking('models', at, '', body, method),
            asking('models', at, `?team=${team}`, body, method),
            asking('models', at, '?team=nobody-has-this', body, method),
            asking('nothing', at, '', body, method),
            asking('nothing', at, `?team=${team}`, body, method),
          ])
          for (const answer of answers)
            assert.deepEqual([answer.status, answer.text], [404, answers[0].text], `${method} ${at}`)
        })
      for (const of of [team, 'nobody-has-this']) {
        const list = await service.send('GET', `/api/registries?team=${of}`, undefined, { key: stranger })
        const create = await service.post('/api/registries', { name: 'models', team: of }, { key: stranger })
        assert.equal(reasonOf(list, 404), reasonOf(create, 404))
      }
      assert.equal((await send('GET', '/versions')).status, 200)
    })

    it('are told apart by their team where several have one of the name', async () => {
      const [one, other] = [await given(), await given()]
      await admit(service, other.team, one.member)
      for (const [method, at, body] of [
        ['GET', '/versions'],
        ['POST', '/links', one.source('v0')],
        ['DELETE', '/aliases/x'],
      ] as const) {
        const answer = await one.send(method, at, body)
        assert.match(reasonOf(answer, 409), /\?team=/)
        assert.deepEqual(answer.json()['teams'], [one.team, other.team].sort())
      }
      accepted(await one.send('POST', `/links?team=${other.team}`, other.source('v1')))
      assert.equal((await other.list()).length, 1)
      reasonOf(await one.send('GET', `/versions?team=${one.team}`), 404)
      assert.equal((await one.send('GET', '/versions?team=a/b')).status, 422)
    })
  })

  describe('with linked versions', () => {
    it('number them by themselves, and show what they are', async () => {
      const { team, link, list, events, send } = await given()
      assert.deepEqual([await link('v2'), await link('v0')], ['v0', 'v1'])
      await writesNothing(service, async () => assert.equal(await link('latest'), 'v0'))
      const [first, second] = await list()
      const [event] = await events()
      const { linked_at: _at, linked_by: _by, artifact_id, ...shown } = first!
      assert.deepEqual(shown, {
        version: 'v0',
        source: { entity: team, project: 'project', collection: 'model', version: 'v2' },
        type: 'model',
        metadata: { a: 2 },
        aliases: [],
        tags: [],
      })
      assert.equal(second!.version, 'v1')
      assert.deepEqual(event!.data, {
        team,
        collection: 'good',
        project_id: null,
        registry: 'models',
        version: 0,
        type: 'model',
        source: { project_id: `${team}/project`, collection: 'model', version: 2, artifact_id },
        metadata: { a: 2 },
        link_id: null,
      })
      assert.deepEqual(accepted(await send('GET', '/versions/v0')), first)
    })

    it('take them out, with their aliases, and may show them again under another number', async () => {
      const { link, list, send, events } = await given()
      await link('v0')
      accepted(await send('POST', '/versions/v0/aliases', { alias: 'production' }))
      accepted(await send('POST', '/versions/production/tags', { tag: 'reviewed' }))
      accepted(await send('DELETE', '/links/production'))
      await writesNothing(service, async () => accepted(await send('DELETE', '/links/v0')))
      assert.deepEqual(await list(), [])
      for (const at of ['/links/v1', '/links/production', '/links/nothing'])
        reasonOf(await send('DELETE', at), 404)
      for (const version of ['v0', 'production']) {
        reasonOf(await send('GET', `/versions/${version}`), 404)
        reasonOf(await send('POST', `/versions/${version}/aliases`, { alias: 'x' }), 404)
      }
      assert.equal(await link('v0'), 'v1')
      assert.deepEqual(
        (await list()).map(({ version, aliases, tags }) => [version, aliases, tags]),
        [['v1', [], []]],
      )
      assert.deepEqual(
        (await events()).map(({ type }) => type),
        ['VersionLinked', 'AliasAdded', 'TagAdded', 'AliasRemoved', 'VersionUnlinked', 'VersionLinked'],
      )
    })

    it('are linked once under an Idempotency-Key, also where they were unlinked meanwhile', async () => {
      const { send, source, member, list } = await given()
      const link = (version: string, key: string) =>
        service.post('/api/registries/models/good/links', source(version), {
          key: member,
          headers: { 'Idempotency-Key': key },
        })
      const first = accepted(await link('v0', 'once'))
      accepted(await send('DELETE', '/links/v0'))
      await writesNothing(service, async () => {
        assert.deepEqual(accepted(await link('v0', 'once')), first)
        reasonOf(await link('v1', 'once'), 409)
        assert.equal((await link('v1', 'x'.repeat(256))).status, 422)
      })
      assert.equal(textIn(accepted(await link('v0', 'again')), 'version'), 'v1')
      assert.equal((await list()).length, 1)
    })

    it('have aliases and tags of their own', async () => {
      const { team, link, send, list } = await given()
      await link('v0')
      await link('v1')
      for (const version of ['v0', 'v1'])
        accepted(await send('POST', `/versions/${version}/aliases`, { alias: 'production' }))
      accepted(await send('POST', '/versions/production/tags', { tag: 'reviewed' }))
      assert.deepEqual(
        (await list()).map(({ version, aliases, tags }) => [version, aliases, tags]),
        [
          ['v0', [], []],
          ['v1', ['production'], ['reviewed']],
        ],
      )
      const events = await eventsOf(service, `artifact-${team}/project/model`)
      assert.ok(events.every(({ data }) => data['alias'] !== 'production'))
    })

    it('are linked by members of both teams alone', async () => {
      const [home, away] = [await given(), await given()]
      const guest = await away.keyOf('member')
      const from = (source: object) =>
        service.post('/api/registries/models/good/links', source, { key: guest })
      const hidden = await from(home.source('v0'))
      const none = await from({ ...home.source('v0'), entity: 'nobody-has-this' })
      assert.equal(reasonOf(hidden, 404), reasonOf(none, 404))
      await admit(service, home.team, guest)
      const link = (source: object) =>
        service.post(`/api/registries/models/good/links?team=${away.team}`, source, { key: guest })
      assert.equal(textIn(accepted(await link(home.source('v0'))), 'version'), 'v0')
      for (const one of [
        home.source('v9'),
        home.source('nothing'),
        { ...home.source('v0'), collection: 'none' },
        { ...home.source('v0'), project: 'none' },
      ])
        reasonOf(await link(one), 404)
      assert.deepEqual(told(await link({ ...home.source('v0'), project: 'a/b', version: 1 })), [
        'string_pattern_mismatch project',
        'string_type version',
      ])
    })
  })
})
