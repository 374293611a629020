import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Answered } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { anUpstream } from '../gateway/given.js'
import { aWebhook } from '../webhooks/given.js'
import { accepted, eventsOf, reasonOf, writesNothing } from '../calls/given.js'

describe('secrets of a team', () => {
  let service: TestService
  let team: string
  let key: string
  before(async () => {
    service = await sharedService()
  })
  beforeEach(async () => {
    team = `team-${randomUUID().slice(0, 8)}`
    await service.teams.create(team).json()
    key = await keyOf('team_administrator')
  })

  const keyOf = async (role: string): Promise<string> => {
    const user = `user-${randomUUID()}`
    return await service.teams.keyOf(team, user, role)
  }
  const put = (name: string, value: unknown, headers: Record<string, string> = {}, as = key) =>
    service.send('PUT', `/api/teams/${team}/secrets/${name}`, { value }, { key: as, headers })
  const destroy = (name: string, as = key) =>
    service.send('DELETE', `/api/teams/${team}/secrets/${name}`, undefined, { key: as })
  const list = async (query = '') =>
    accepted(await service.send('GET', `/api/teams/${team}/secrets${query}`, undefined, { key })) as {
      data: Record<string, unknown>[]
      next: string | null
    }
  const valueOf = (name: string, version: number) => service.stores.secrets.get({ team, name, version })
  const typesIn = async (name: string) =>
    (await eventsOf(service, `secret-${team}/${name}`)).map(({ type }) => type)

  it('are stored, rotated and destroyed, and begin again behind what was destroyed', async () => {
    for (const version of [1, 2]) {
      const answer = await put('TOKEN', `value ${version}`)
      assert.deepEqual(accepted(answer), { name: 'TOKEN', version })
      assert.match(answer.headers.get('tallytree-position') ?? '', /^\d+$/)
    }
    assert.deepEqual([await valueOf('TOKEN', 1), await valueOf('TOKEN', 2)], ['value 1', 'value 2'])

    assert.deepEqual(accepted(await destroy('TOKEN')), {})
    assert.deepEqual([await valueOf('TOKEN', 1), await valueOf('TOKEN', 2)], [undefined, undefined])
    assert.deepEqual((await list()).data, [])

    assert.deepEqual(accepted(await put('TOKEN', 'value 3')), { name: 'TOKEN', version: 3 })
    assert.deepEqual(await typesIn('TOKEN'), [
      'SecretStored',
      'SecretRotated',
      'SecretDestroyed',
      'SecretStored',
    ])
  })

  it('are destroyed once, and only where they are', async () => {
    await put('TOKEN', 'value')
    accepted(await destroy('TOKEN'))
    await writesNothing(service, async () => {
      accepted(await destroy('TOKEN'))
      for (const unknown of ['UNKNOWN', 'no-name', '%00', 'a'.repeat(300)])
        assert.equal(reasonOf(await destroy(unknown), 404), 'The team has no secret with this name.')
    })
  })

  it('are listed by name in pages, with their version and dates alone', async () => {
    for (const name of ['B', 'a', 'A']) await put(name, 'value')
    await put('A', 'another value')

    const { data, next } = await list('?limit=2')
    assert.deepEqual(
      data.map(({ name, version }) => [name, version]),
      [
        ['A', 2],
        ['B', 1],
      ],
    )
    assert.equal(next, 'B')
    for (const one of data) {
      assert.deepEqual(Object.keys(one).toSorted(), [
        'created_at',
        'name',
        'updated_at',
        'used_for',
        'version',
      ])
      for (const date of ['created_at', 'updated_at'])
        assert.match(String(one[date]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    }
    assert.deepEqual(
      (await list(`?limit=2&after=${next}`)).data.map(({ name }) => name),
      ['a'],
    )
  })

  it('repeated with the same Idempotency-Key write nothing, though another value came since', async () => {
    const once = { 'idempotency-key': 'once' }
    accepted(await put('TOKEN', 'value', once))
    await put('TOKEN', 'another value')
    await writesNothing(service, async () => {
      assert.deepEqual(accepted(await put('TOKEN', 'value', once)), { name: 'TOKEN', version: 1 })
      assert.match(reasonOf(await put('TOKEN', 'other', once), 409), /already used for another value/)
    })
    accepted(await destroy('TOKEN'))
    assert.deepEqual(accepted(await put('TOKEN', 'value', once)), { name: 'TOKEN', version: 1 })
    assert.equal(await valueOf('TOKEN', 1), undefined)
    assert.equal((await put('TOKEN', 'value', { 'idempotency-key': 'x'.repeat(256) })).status, 422)
  })

  it('of many requests at once get a version and keep a value each', async () => {
    const values = Array.from({ length: 12 }, (_, n) => `value ${n}`)
    const answers = await Promise.all(values.map((value) => put('TOKEN', value)))

    const stored = answers.map((answer, n) => ({
      value: values[n],
      version: Number(accepted(answer)['version']),
    }))
    assert.equal(new Set(stored.map(({ version }) => version)).size, stored.length)
    for (const { value, version } of stored) assert.equal(await valueOf('TOKEN', version), value)
    const held = await service.stores.secrets.versions({ team, name: 'TOKEN' })
    assert.deepEqual(
      held.map(({ version }) => version),
      stored.map(({ version }) => version).toSorted((a, b) => a - b),
    )
  })

  it('are for webhooks and upstreams, until a team administrator says otherwise', async () => {
    const path = `/api/teams/${team}/secrets/TOKEN`
    const patch = (used_for: unknown, as = key) => service.send('PATCH', path, { used_for }, { key: as })
    const usesOf = async () => (await list()).data.map(({ used_for, version }) => [used_for, version])
    assert.equal(reasonOf(await patch(['scorers']), 404), 'The team has no secret with this name.')
    accepted(await put('TOKEN', 'value'))
    assert.deepEqual(await usesOf(), [[['webhooks', 'upstreams'], 1]])
    assert.deepEqual(accepted(await patch(['scorers', 'webhooks', 'scorers'])), {
      used_for: ['webhooks', 'scorers'],
    })
    const others = [await keyOf('member'), await keyOf('project_administrator')]
    await writesNothing(service, async () => {
      accepted(await patch(['webhooks', 'scorers']))
      for (const wrong of [[], ['everything'], 'webhooks', null])
        assert.equal((await patch(wrong)).status, 422, JSON.stringify(wrong))
      for (const as of others) assert.equal((await patch(['upstreams'], as)).status, 403)
    })
    accepted(await put('TOKEN', 'another'))
    assert.deepEqual(await usesOf(), [[['webhooks', 'scorers'], 2]])
    const body = { value: 'third', used_for: ['scorers'] }
    accepted(await service.send('PUT', path, body, { key }))
    assert.deepEqual(await usesOf(), [[['scorers'], 3]])
  })

  it('are not taken by webhooks and upstreams for which they are not meant, nor taken from them', async () => {
    const uses = (name: string, used_for: readonly string[]) =>
      service.send('PATCH', `/api/teams/${team}/secrets/${name}`, { used_for }, { key })
    for (const name of ['HOOK', 'MODEL', 'SCORER']) accepted(await put(name, 'value'))
    accepted(await uses('SCORER', ['scorers']))
    const hook = (fields: object) =>
      service.send('POST', `/api/teams/${team}/webhooks`, aWebhook(fields), { key })
    for (const fields of [
      { secret: 'SCORER' },
      { access_token: 'SCORER' },
      { headers: { 'X-A': '$SCORER' } },
    ]) {
      const refused = await hook(fields)
      assert.equal(refused.status, 422)
      assert.match(refused.text, /SCORER is for scorers only. .*allows webhooks with PATCH/)
    }
    for (const fields of [
      { secret: 'SCORER' },
      { headers: { 'X-A': '$SCORER' } },
      { query: { a: '$SCORER' } },
    ]) {
      const refused = await service.send(
        'POST',
        '/api/inference/upstreams',
        anUpstream({ team, ...fields }),
        { key },
      )
      assert.equal(refused.status, 422)
      assert.match(refused.text, /SCORER is for scorers only. .*allows upstreams with PATCH/)
    }
    accepted(await hook({ secret: 'HOOK' }))
    const upstream = anUpstream({ team, secret: 'MODEL' })
    accepted(await service.send('POST', '/api/inference/upstreams', upstream, { key }))
    accepted(await uses('HOOK', ['webhooks']))
    accepted(await uses('MODEL', ['upstreams', 'scorers']))
    for (const [name, used_for] of [
      ['HOOK', ['upstreams', 'scorers']],
      ['MODEL', ['webhooks']],
    ] as const) {
      const refused = await uses(name, used_for)
      assert.match(reasonOf(refused, 409), /use this secret for something else/)
      assert.equal(refused.json<{ used_by: unknown[] }>().used_by.length, 1)
      const body = { value: 'new', used_for }
      assert.equal(
        (await service.send('PUT', `/api/teams/${team}/secrets/${name}`, body, { key })).status,
        409,
      )
    }
  })

  it('of the same name in another team are others', async () => {
    await put('TOKEN', 'value')
    const other = `team-${randomUUID().slice(0, 8)}`
    await service.teams.create(other).json()
    accepted(await service.send('PUT', `/api/teams/${other}/secrets/TOKEN`, { value: 'theirs' }))
    accepted(await service.send('DELETE', `/api/teams/${other}/secrets/TOKEN`))
    assert.equal(await valueOf('TOKEN', 1), 'value')
  })

  it('take any well-formed text of up to 8 KiB', async () => {
    for (const value of [
      'a',
      'x'.repeat(8192),
      'ü'.repeat(4096),
      '🌳'.repeat(2048),
      'a \r\n\t"\\{}',
      '\u0001',
    ]) {
      const { version } = accepted(await put('TEXT', value))
      assert.equal(await valueOf('TEXT', Number(version)), value)
    }
  })

  it('take nothing else, and no answer quotes what was sent', async () => {
    const canary = 'canary-1b9d4e7f'
    const path = `/api/teams/${team}/secrets`
    const bodies: readonly unknown[] = [
      { value: '' },
      { value: `${canary}\n` },
      { value: ` ${canary}` },
      { value: `${canary}\u00a0` },
      { value: '\t' },
      { value: `${canary}\0` },
      `{"value":"${canary}\\ud800"}`,
      { value: canary + 'x'.repeat(8192) },
      { value: '🌳'.repeat(2049) },
      { value: 7 },
      { value: [canary] },
      { value: null },
      {},
      { value: 'value', more: canary },
      `{"value":"${canary}`,
      `"${canary}"`,
      [canary],
    ]
    await writesNothing(service, async () => {
      const answers: Answered[] = []
      for (const body of bodies) answers.push(await service.send('PUT', `${path}/TOKEN`, body, { key }))
      for (const name of ['1A', 'A-B', 'a'.repeat(129), '%20', 'ü', '$A'])
        answers.push(await put(name, canary))
      for (const answer of answers) {
        assert.equal(answer.status, 422, answer.text)
        assert.ok(!answer.text.includes(canary), answer.text)
      }
    })
    const invalid = Buffer.concat([Buffer.from('{"value":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
    const response = await fetch(`${service.address}${path}/TOKEN`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: invalid,
    })
    assert.equal(response.status, 422)
    assert.deepEqual((await list()).data, [])
  })

  it('need a team administrator, and say so to other members alone', async () => {
    await put('TOKEN', 'value')
    const ask = async (as: string) => [
      await put('TOKEN', 'another value', {}, as),
      await destroy('TOKEN', as),
      await service.send('GET', `/api/teams/${team}/secrets`, undefined, { key: as }),
    ]
    const others = ['member', 'registry_administrator', 'project_administrator']
    await Promise.all(others.map(keyOf)).then((keys) =>
      writesNothing(service, async () => {
        for (const as of keys)
          for (const answer of await ask(as))
            assert.equal(reasonOf(answer, 403), `This requires the role team_administrator in team ${team}.`)
      }),
    )
  })
})
