import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { accepted, eventsOf, reasonOf, textIn, told, writesNothing } from '../calls/given.js'
import { givenTeam } from './given.js'

interface Version extends JsonObject {
  readonly version: string
  readonly artifact_id: string
  readonly aliases: readonly string[]
}

describe('artifacts', () => {
  let service: TestService
  let team: string
  let key: string
  let collections = 0

  before(async () => {
    service = await sharedService()
    const given = await givenTeam(service)
    team = given.team
    key = await given.keyOf('member')
  })

  /** A collection of its own, as a member of the team sees it. */
  const given = () => {
    const name = `collection-${(collections += 1)}`
    const path = `/api/artifacts/${team}/project/${name}`
    const send = (method: string, at: string, body?: unknown, headers?: Record<string, string>) =>
      service.send(method, `${path}${at}`, body, { key, ...(headers && { headers }) })
    return {
      path,
      send,
      create: async (body: object, headers?: Record<string, string>) =>
        accepted(await send('POST', '/versions', body, headers)) as Version,
      read: async (version: string) => accepted(await send('GET', `/versions/${version}`)) as Version,
      events: () => eventsOf(service, `artifact-${team}/project/${name}`),
    }
  }

  const aliasesIn = (events: readonly { readonly type: string; readonly data: JsonObject }[]) =>
    events.flatMap(({ type, data }) => ('alias' in data ? [[type, data['alias'], data['version']]] : []))

  it('are created, read by number and alias, and say who made them and what they are', async () => {
    const { create, read, events } = given()
    const files = [{ path: 'weights', digest: 'abc', size: 3 }]
    const made = await create({ type: 'model', metadata: { a: { b: [1, null] } }, aliases: ['best'], files })
    const me = accepted(await service.send('GET', '/api/users/me', undefined, { key }))['user']
    const [, created] = await events()
    const expected = {
      version: 'v0',
      artifact_id: made.artifact_id,
      digest: made['digest'],
      type: 'model',
      files,
      file_count: 1,
      size: 3,
      description: null,
      run_id: null,
      metadata: { a: { b: [1, null] } },
      aliases: ['best', 'latest'],
      tags: [],
      created_at: created!.data['created_at'],
      created_by: me,
    }
    for (const named of ['v0', 'best', 'latest']) assert.deepEqual(await read(named), expected)
    assert.deepEqual(created!.data, {
      team,
      collection: created!.data['collection'],
      project_id: `${team}/project`,
      registry: null,
      version: 0,
      artifact_id: made.artifact_id,
      digest: made['digest'],
      type: 'model',
      files,
      metadata: { a: { b: [1, null] } },
      created_at: created!.data['created_at'],
      manifest: null,
      description: null,
      run_id: null,
      history_step: null,
      ttl_seconds: null,
    })
    assert.equal(created!.metadata.actor, me)
  })

  it('of the same content are the same version, and only aliases asked for anew are written', async () => {
    const { create, events } = given()
    const first = await create({ metadata: { a: 1, b: 2 } })
    await create({ metadata: { a: 2 } })
    await writesNothing(service, async () =>
      assert.deepEqual(await create({ metadata: { b: 2, a: 1 } }), first),
    )
    const before = (await events()).length
    assert.deepEqual(await create({ metadata: { a: 1, b: 2 }, aliases: ['old', 'old'] }), first)
    assert.deepEqual(aliasesIn((await events()).slice(before)), [['AliasAdded', 'old', 0]])
  })

  it('move the alias latest with every version, in the append that makes it', async () => {
    const { create, events } = given()
    await create({ metadata: { a: 1 } })
    await create({ metadata: { a: 2 }, aliases: ['best'] })
    const all = await events()
    assert.deepEqual(
      all.map(({ type }) => type),
      [
        'CollectionCreated',
        'VersionCreated',
        'AliasAdded',
        'VersionCreated',
        'AliasRemoved',
        'AliasAdded',
        'AliasAdded',
      ],
    )
    assert.deepEqual(aliasesIn(all), [
      ['AliasAdded', 'latest', 0],
      ['AliasRemoved', 'latest', 0],
      ['AliasAdded', 'latest', 1],
      ['AliasAdded', 'best', 1],
    ])
    assert.equal(new Set(all.slice(3).map(({ metadata }) => metadata.correlationId)).size, 1)
  })

  it('have aliases that move, are named by them, and lose them', async () => {
    const { create, send, read, events } = given()
    await create({ metadata: { a: 1 } })
    await create({ metadata: { a: 2 } })
    const before = (await events()).length
    const set = async (version: string, alias: string) =>
      accepted(await send('POST', `/versions/${version}/aliases`, { alias }))['version']
    assert.equal(await set('v0', 'a b'), 'v0')
    assert.equal(await set('latest', 'a b'), 'v1')
    await writesNothing(service, () => set('v1', 'a b'))
    assert.deepEqual((await read('a%20b')).aliases, ['a b', 'latest'])
    accepted(await send('DELETE', '/aliases/a%20b'))
    await writesNothing(service, async () => accepted(await send('DELETE', '/aliases/a%20b')))
    reasonOf(await send('GET', '/versions/a%20b'), 404)
    assert.deepEqual(aliasesIn((await events()).slice(before)), [
      ['AliasAdded', 'a b', 0],
      ['AliasRemoved', 'a b', 0],
      ['AliasAdded', 'a b', 1],
      ['AliasRemoved', 'a b', 1],
    ])
  })

  it('have tags', async () => {
    const { create, send, read, events } = given()
    await create({})
    const tag = (tag: string) => send('POST', '/versions/latest/tags', { tag })
    assert.deepEqual(accepted(await tag('reviewed')), { version: 'v0' })
    accepted(await tag('v1'))
    await writesNothing(service, () => tag('reviewed'))
    assert.deepEqual((await read('v0'))['tags'], ['reviewed', 'v1'])
    accepted(await send('DELETE', '/versions/v0/tags/v1'))
    await writesNothing(service, () => send('DELETE', '/versions/v0/tags/v1'))
    assert.deepEqual(
      (await events()).slice(3).map(({ type, data }) => [type, data['tag'], data['version']]),
      [
        ['TagAdded', 'reviewed', 0],
        ['TagAdded', 'v1', 0],
        ['TagRemoved', 'v1', 0],
      ],
    )
  })

  it('are listed page by page, each once', async () => {
    const { create, send } = given()
    for (let i = 0; i < 12; i += 1) await create({ metadata: { i } })
    const seen: Version[] = []
    let after = ''
    for (;;) {
      const page = accepted(await send('GET', `/versions?limit=5${after}`)) as unknown as {
        data: Version[]
        next: string | null
      }
      seen.push(...page.data)
      if (page.next === null) break
      assert.equal(page.data.length, 5)
      after = `&after=${page.next}`
    }
    assert.deepEqual(
      seen.map(({ version, metadata, aliases }) => [version, metadata, aliases]),
      Array.from({ length: 12 }, (_, i) => [`v${i}`, { i }, i === 11 ? ['latest'] : []]),
    )
    const wrong = await send('GET', '/versions?after=latest')
    assert.equal(wrong.status, 422)
    assert.deepEqual(wrong.json<{ detail: { loc: unknown }[] }>().detail[0]!.loc, ['query', 'after'])
  })

  it('that are large make shorter pages, and none is left out', async () => {
    const { create, send } = given()
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, 'x'.repeat(16_000)]))
    for (let i = 0; i < 40; i += 1) await create({ metadata: { ...metadata, i } })
    const page = accepted(await send('GET', '/versions?limit=1000')) as unknown as {
      data: Version[]
      next: string
    }
    assert.ok(page.data.length < 40 && page.next === `v${page.data.length - 1}`)
    const rest = accepted(await send('GET', `/versions?after=${page.next}`)) as unknown as { data: Version[] }
    assert.equal(page.data.length + rest.data.length, 40)
  })

  it('made twice under one Idempotency-Key are made once; other content under it is a conflict', async () => {
    const { create, send } = given()
    const headers = { 'Idempotency-Key': 'once' }
    const first = await create({ metadata: { a: 1 } }, headers)
    await writesNothing(service, async () => {
      assert.deepEqual(await create({ metadata: { a: 1 } }, headers), first)
      reasonOf(await send('POST', '/versions', { metadata: { a: 2 } }, headers), 409)
      assert.equal((await send('POST', '/versions', {}, { 'Idempotency-Key': 'k'.repeat(256) })).status, 422)
    })
    accepted(await send('POST', '/versions', { metadata: { a: 1 }, aliases: ['best'] }))
    accepted(await send('POST', '/versions', { metadata: { a: 3 }, aliases: ['best'] }))
    await writesNothing(service, () => create({ metadata: { a: 1 }, aliases: ['best'] }, headers))
    const elsewhere = await given().create({ metadata: { a: 1 } }, headers)
    assert.notEqual(elsewhere.artifact_id, first.artifact_id)
  })

  it('made and labelled by many at once are numbered without gaps, each alias at one version', async () => {
    const { create, send, events } = given()
    await create({ metadata: { first: true } })
    await Promise.all(
      Array.from({ length: 30 }, async (_, i) => {
        await create({ metadata: { i: i % 20 } })
        accepted(await send('POST', '/versions/v0/aliases', { alias: `a${i}` }))
      }),
    )
    const versions = (await events()).filter(({ type }) => type === 'VersionCreated')
    assert.deepEqual(
      versions.map(({ data }) => data['version']),
      Array.from({ length: 21 }, (_, i) => i),
    )
    const page = accepted(await send('GET', '/versions')) as unknown as { data: Version[] }
    assert.equal(page.data.flatMap(({ aliases }) => aliases).length, 31)
    assert.deepEqual(page.data.at(-1)!.aliases, ['latest'])
  })

  it('name what is wrong with them', async () => {
    const { send } = given()
    const file = { path: 'p', digest: 'd', size: 1 }
    const large = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'x'.repeat(16_000)]))
    for (const [body, ...problems] of [
      [[], 'model_attributes_type '],
      [{ version: 'v3' }, 'extra_forbidden version'],
      [{ metadata: [] }, 'dict_type metadata'],
      [
        { metadata: { a: 'x'.repeat(16_383), b: ['x'.repeat(16_381)] } },
        'value_error metadata.a',
        'value_error metadata.b',
      ],
      [{ metadata: large }, 'value_error metadata'],
      [{ aliases: ['v0'] }, 'string_pattern_mismatch aliases.0'],
      [
        { aliases: ['ok', 'a/b', 'a:b', 'a\n', ''] },
        ...[1, 2, 3, 4].map((i) => `string_pattern_mismatch aliases.${i}`),
      ],
      [{ aliases: Array.from({ length: 33 }, (_, i) => `a${i}`) }, 'too_long aliases'],
      [{ files: [file, { ...file, digest: 'e' }] }, 'value_error files.1.path'],
      [
        { files: [{ ...file, size: -1 }, { path: 'q' }] },
        'greater_than_equal files.0.size',
        'missing files.1.digest',
        'missing files.1.size',
      ],
      [
        { files: Array.from({ length: 6000 }, (_, i) => ({ ...file, path: `${i}${'p'.repeat(100)}` })) },
        'value_error files',
      ],
      [{ type: 'x'.repeat(129) }, 'string_too_long type'],
    ] as const)
      assert.deepEqual(told(await send('POST', '/versions', body)), problems)
    await writesNothing(service, async () => {
      for (const at of ['/versions/v0/aliases', '/versions/latest/aliases'])
        reasonOf(await send('POST', at, { alias: 'x' }), 404)
      reasonOf(await send('DELETE', '/aliases/x'), 404)
      reasonOf(await send('GET', '/versions'), 404)
      reasonOf(await send('GET', '/versions/v0'), 404)
      assert.equal(
        (await service.send('GET', `/api/artifacts/${team}/project/a%20b/versions`, undefined, { key }))
          .status,
        422,
      )
      reasonOf(await send('GET', '/versions', undefined, { 'Tallytree-As-Of': '1' }), 404)
    })
  })

  it('are those of a team alone: others learn nothing, in any way', async () => {
    const { create, path } = given()
    await create({ metadata: { a: 1 } })
    const stranger = await (await givenTeam(service)).keyOf('team_administrator')
    const nowhere = path.replace(team, 'nobody-has-this')
    for (const [method, at, body] of [
      ['GET', '/versions'],
      ['GET', '/versions/v0'],
      ['GET', '/versions/v7'],
      ['POST', '/versions', {}],
      ['POST', '/versions/v0/aliases', { alias: 'x' }],
      ['POST', '/versions/v0/tags', { tag: 'x' }],
      ['DELETE', '/aliases/latest'],
      ['DELETE', '/versions/v0/tags/x'],
    ] as const)
      await writesNothing(service, async () => {
        const [there, none] = await Promise.all(
          [path, nowhere].map((one) => service.send(method, `${one}${at}`, body, { key: stranger })),
        )
        assert.deepEqual([there!.status, there!.text], [none!.status, none!.text])
        reasonOf(there!, 404)
      })
  })

  it('answer the position at which they stand', async () => {
    const { path } = given()
    const answer = await service.post(`${path}/versions`, {}, { key })
    const version = textIn(accepted(answer), 'version')
    const position = answer.headers.get('tallytree-position')!
    const read = await service.send('GET', `${path}/versions/${version}`, undefined, {
      key,
      headers: { 'Tallytree-Min-Position': position },
    })
    accepted(read)
    assert.ok(BigInt(read.headers.get('tallytree-position')!) >= BigInt(position))
  })
})
