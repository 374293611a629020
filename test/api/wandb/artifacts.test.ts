import assert from 'node:assert/strict'
import { startTestService, type TestService } from '../../support/service.js'
import { itInFull } from '../../counts.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, eventsOf, writesNothing } from '../calls/given.js'
import { dataOf, memberOf } from '../graphql/given.js'
import { clientOf, digestOfEntries, put } from './given.js'

/** As many as the package sends. */
const AT_ONCE = 128
const FILES = { 'a.txt': 'hello', empty: '', 'sub/größe %.bin': 'x'.repeat(3000) }

describe('an artifact of the package wandb', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const typesIn = async (project: string, collection: string) =>
    (await eventsOf(service, `artifact-${project}/${collection}`)).map(({ type }) => type)

  it('is a version once it is committed, and not before', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    const { id, state } = await client.draft('ds', FILES)
    assert.equal(state, 'PENDING')
    assert.deepEqual(await typesIn(project, 'ds'), [])
    assert.equal(await client.artifact('ds:latest', 'id'), null)
    const refused = async () => (await client.commit(id)).errors?.[0]?.message
    assert.match((await refused()) ?? '', /its manifest was not uploaded/)
    const manifest = await client.manifestLink(id, FILES)
    assert.equal((await put(manifest.uploadUrl, manifest.text)).status, 200)
    assert.match((await refused()) ?? '', /the file .* was not uploaded/)
    for (const { name, uploadUrl } of await client.fileLinks(id, FILES)) {
      const wrong = await put(uploadUrl!, 'wrong')
      assert.deepEqual([wrong.status, /MD5/.test(await wrong.text())], [400, true])
      assert.equal((await put(uploadUrl!, FILES[name as keyof typeof FILES])).status, 200)
    }
    assert.deepEqual(await typesIn(project, 'ds'), [])
    const first = dataOf(await client.commit(id)).commitArtifact.artifact
    assert.deepEqual([first.id, first.versionIndex, first.state], [id, 0, 'COMMITTED'])
    await writesNothing(service, async () =>
      assert.deepEqual(dataOf(await client.commit(id)).commitArtifact.artifact, first),
    )
    assert.deepEqual(await typesIn(project, 'ds'), ['CollectionCreated', 'VersionCreated', 'AliasAdded'])
  })

  it('can be read whole and in parts by links that open without a key', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    await client.upload('ds', FILES)
    const { files, size, fileCount, currentManifest } = await client.artifact(
      'ds',
      'size fileCount files(first: 9) { edges { node { name directUrl } } } currentManifest { file { directUrl } }',
    )
    assert.deepEqual([size, fileCount], [3005, 3])
    for (const { node } of files.edges) {
      const answer = await fetch(node.directUrl)
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
      assert.equal(await answer.text(), FILES[node.name as keyof typeof FILES])
    }
    const { directUrl } = files.edges.find(
      ({ node }: { node: { name: string } }) => node.name === 'a.txt',
    ).node
    const part = async (range: string) => {
      const answer = await fetch(directUrl, { headers: { range } })
      return [answer.status, answer.headers.get('content-range'), await answer.text()]
    }
    assert.deepEqual(await part('bytes=1-3'), [206, 'bytes 1-3/5', 'ell'])
    assert.deepEqual(await part('bytes=3-'), [206, 'bytes 3-4/5', 'lo'])
    assert.deepEqual(await part('bytes=-2'), [206, 'bytes 3-4/5', 'lo'])
    assert.deepEqual(await part('bytes=5-'), [416, 'bytes */5', ''])
    assert.deepEqual(await part('lines=1-2'), [200, null, 'hello'])
    assert.ok(JSON.parse(await (await fetch(currentManifest.file.directUrl)).text()).contents['a.txt'])
  })

  it('has links that are for one purpose, and cannot be changed', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    const { id } = await client.draft('ds', { a: 'content' })
    const [{ uploadUrl }] = (await client.fileLinks(id, { a: 'content' })) as unknown as readonly [
      { uploadUrl: string },
    ]
    assert.equal((await fetch(uploadUrl)).status, 403)
    const [address = '', token = ''] = uploadUrl.split('/api/content/')
    const [text = '', signature = ''] = token.split('~')
    const content = JSON.parse(Buffer.from(text, 'base64url').toString()) as object
    const changed = Buffer.from(JSON.stringify({ ...content, project: 'other/p' })).toString('base64url')
    for (const link of [`${changed}~${signature}`, text, `${text}~`, `${text}~x.${signature}`, '~', 'x'])
      assert.equal((await put(`${address}/api/content/${link}`, 'content')).status, 403, link)
  })

  it('with equal content is the same version, and moves nothing but its new aliases', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    const first = await client.upload('ds', { a: '1' })
    const second = await client.upload('ds', { a: '2' })
    const aliases = ['latest', 'again'].map((alias) => ({ artifactCollectionName: 'ds', alias }))
    const metadata = JSON.stringify({ other: true })
    assert.equal(
      await client.upload('ds', { a: '1' }, { aliases, metadata, tags: [{ tagName: 't' }] }),
      first,
    )
    const read = async (named: string) =>
      client.artifact(named, 'id versionIndex metadata aliases { alias } tags { name }')
    assert.deepEqual(await read('ds:again'), {
      id: first,
      versionIndex: 0,
      metadata: '{}',
      aliases: [{ alias: 'again' }],
      tags: [{ name: 't' }],
    })
    assert.equal((await read('ds:latest')).id, second)
    // The content is there: nothing is uploaded again.
    const { id } = await client.draft('ds', { a: '1', b: '3' })
    const links = await client.fileLinks(id, { a: '1', b: '3' })
    assert.deepEqual(
      links.map(({ uploadUrl }) => uploadUrl === null),
      [true, false],
    )
  })

  itInFull('may have thousands of files, of which many arrive at once', async () => {
    const client = clientOf(service, someProject())
    const files = Object.fromEntries(
      Array.from({ length: 3000 }, (_, at) => [`part ${at % 7}/${at}`, `${at}`]),
    )
    const { id } = await client.draft('many', files)
    const links = await client.fileLinks(id, files)
    assert.equal(links.length, 3000)
    for (let from = 0; from < links.length; from += AT_ONCE) {
      const stored = links
        .slice(from, from + AT_ONCE)
        .map(({ name, uploadUrl }) => put(uploadUrl!, files[name]!))
      for (const { status } of await Promise.all(stored)) assert.equal(status, 200)
    }
    const { text, uploadUrl } = await client.manifestLink(id, files)
    assert.equal((await put(uploadUrl, text)).status, 200)
    dataOf(await client.commit(id))
    const { fileCount, files: page } = await client.artifact(
      'many',
      'fileCount files(first: 5000) { edges { node { name } } pageInfo { hasNextPage } }',
    )
    assert.deepEqual([fileCount, page.edges.length, page.pageInfo.hasNextPage], [3000, 3000, false])
  })

  it('may refer to content elsewhere, whatever size the client claims for it', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    const contents = Object.fromEntries(
      [5, 1e308, -1, 'large', null, 9e15, 9e15].map((size, at) => [
        `ref-${at}`,
        { digest: `etag-${at}`, size, ref: `https://content.example/${at}` },
      ]),
    )
    const digests = Object.fromEntries(Object.entries(contents).map(([path, { digest }]) => [path, digest]))
    const { id } = await client.draft('refs', {}, { digest: digestOfEntries(digests) })
    const { uploadUrl, text } = await client.manifestLink(id, {}, { contents })
    assert.equal((await put(uploadUrl, text)).status, 200)
    dataOf(await client.commit(id))
    const { size, files } = await client.artifact('refs', 'size files { edges { node { name directUrl } } }')
    assert.equal(size, Number.MAX_SAFE_INTEGER)
    assert.deepEqual(files.edges[0].node, { name: 'ref-0', directUrl: 'https://content.example/0' })
  })

  it('is refused where it cannot be what the client asks for', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    await client.upload('ds', { a: '1' })
    const refusal = async (more: object) => {
      try {
        await client.draft('ds', { a: '9' }, more as never)
        return ''
      } catch (error) {
        return (error as Error).message
      }
    }
    assert.match(await refusal({ artifactTypeName: 'model' }), /artifacts of the type dataset/)
    assert.match(await refusal({ digest: 'no digest' }), /input\.digest/)
    assert.match(await refusal({ artifactCollectionName: 'a/b' }), /artifactCollectionName/)
    assert.match(
      await refusal({ aliases: [{ artifactCollectionName: 'ds', alias: 'v3' }] }),
      /input\.aliases/,
    )
    assert.match(await refusal({ metadata: '[' }), /input\.metadata/)
    const deep = `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`
    assert.match(await refusal({ metadata: deep }), /input\.metadata should have at most 256 levels/)
  })

  it('is linked to registries, which have its tags, and lose it when it is deleted', async () => {
    const project = someProject()
    const [team, name] = project.split('/') as [string, string]
    const client = clientOf(service, project)
    const artifactID = await client.upload('ds', { a: '1' }, { tags: [{ tagName: 'old' }] })
    accepted(await service.post('/api/registries', { name: 'models', team }))
    const linking = {
      input: {
        artifactID,
        artifactPortfolioName: 'best',
        entityName: team,
        projectName: 'wandb-registry-models',
        aliases: [{ artifactCollectionName: 'best', alias: 'prod' }],
      },
    }
    const LINK = 'mutation ($input: LinkArtifactInput!) { linkArtifact(input: $input) { versionIndex } }'
    assert.deepEqual(dataOf(await client.graphQl(LINK, linking)), { linkArtifact: { versionIndex: 0 } })
    await writesNothing(service, async () => dataOf(await client.graphQl(LINK, linking)))
    const unknown = { input: { ...linking.input, projectName: 'wandb-registry-none' } }
    assert.match((await client.graphQl(LINK, unknown)).errors?.[0]?.message ?? '', /registry_administrator/)
    dataOf(
      await client.graphQl(
        'mutation ($input: UpdateArtifactInput!) { updateArtifact(input: $input) { artifact { id } } }',
        { input: { artifactID, tagsToAdd: [{ tagName: 'good' }], metadata: '{"rows":3}' } },
      ),
    )
    const registered = async () =>
      (await eventsOf(service, `registered-${team}/models/best`)).map(({ type, data }) => [
        type,
        data['alias'] ?? data['tag'] ?? null,
      ])
    await client.upload('ds', { a: '1' }, { tags: [{ tagName: 'again' }] })
    assert.deepEqual(await registered(), [
      ['VersionLinked', null],
      ['AliasAdded', 'latest'],
      ['AliasAdded', 'prod'],
      ['TagAdded', 'old'],
      ['VersionDescribed', null],
      ['TagAdded', 'good'],
      ['TagAdded', 'again'],
    ])
    const link = accepted(await service.send('GET', `/api/registries/models/best/versions/v0?team=${team}`))
    assert.deepEqual([link['metadata'], link['tags']], [{ rows: 3 }, ['old', 'good', 'again']])
    const all = await client.artifact('ds', 'metadata aliases { alias artifactCollection { name } }')
    assert.equal(all.metadata, '{"rows":3}')
    assert.deepEqual(
      all.aliases.map(
        (one: { alias: string; artifactCollection: { name: string } }) =>
          `${one.artifactCollection.name}:${one.alias}`,
      ),
      ['ds:latest', 'best:latest', 'best:prod'],
    )
    const DELETE =
      'mutation ($input: DeleteArtifactInput!) { deleteArtifact(input: $input) { artifact { id } } }'
    assert.match(
      (await client.graphQl(DELETE, { input: { artifactID } })).errors?.[0]?.message ?? '',
      /aliases/,
    )
    dataOf(await client.graphQl(DELETE, { input: { artifactID, deleteAliases: true } }))
    assert.equal(await client.artifact('ds:v0', 'id'), null)
    assert.deepEqual((await registered()).slice(-3), [
      ['AliasRemoved', 'latest'],
      ['AliasRemoved', 'prod'],
      ['VersionUnlinked', null],
    ])
    const gone = clientOf(service, `${team}/wandb-registry-models`)
    assert.equal(await gone.artifact('best:prod', 'id'), null)
    // The number is not used again.
    await client.upload('ds', { a: '1' })
    assert.equal((await client.artifact('ds', 'versionIndex')).versionIndex, 1)
    assert.ok(name.length > 0)
  })

  it('linked from another team shows nothing to members of that team alone', async () => {
    const [theirs, ours] = [await memberOf(service, 'theirs'), await memberOf(service, 'ours')]
    const [source, team] = [theirs.teams[0]!, ours.teams[0]!]
    await clientOf(service, `${source}/p`, theirs.options).upload('ds', { a: 'CANARY' })
    accepted(await service.post('/api/registries', { name: 'shared', team }))
    const body = { entity: source, project: 'p', collection: 'ds', version: 'v0' }
    accepted(await service.post(`/api/registries/shared/best/links?team=${team}`, body))
    const registry = `${team}/wandb-registry-shared`
    const read = (options: object) =>
      clientOf(service, registry, options).artifact(
        'best:v0',
        'artifactSequence { name } files { edges { node { name } } }',
      )
    assert.equal(await read(ours.options), null)
    assert.equal((await read({})).artifactSequence.name, 'ds')
  })

  it('shows who made and used it, of the teams of the reader', async () => {
    const [mine, other] = [await memberOf(service, 'mine'), await memberOf(service, 'other')]
    const [near, far] = [`${mine.teams[0]}/p`, `${other.teams[0]}/p`]
    const client = clientOf(service, near)
    await client.init('maker')
    const id = await client.upload('ds', { a: '1' }, { runName: 'maker' })
    const use = async (project: string) => {
      await clientOf(service, project).init('user', { displayName: 'reads' })
      const [entityName, projectName] = project.split('/') as [string, string]
      const input = { entityName, projectName, runName: 'user', artifactID: id }
      dataOf(
        await client.graphQl(
          'mutation ($input: UseArtifactInput!) { useArtifact(input: $input) { artifact { id } } }',
          { input },
        ),
      )
    }
    for (const project of [near, far, near]) await use(project)
    const get = async (path: string, options: object) =>
      accepted(await service.send('GET', path, undefined, options))
    const usedBy = async (options: object) =>
      get(`/api/artifacts/${near}/ds/versions/latest/used_by`, options)
    const user = (project_id: string) => ({ project_id, run_id: 'user', name: 'reads' })
    assert.deepEqual(await usedBy(mine.options), { runs: [user(near)] })
    assert.deepEqual(
      new Set((await usedBy({}))['runs'] as readonly object[]),
      new Set([user(near), user(far)]),
    )
    const artifact_id = Buffer.from(id, 'base64').toString().split(':').at(-1)
    const version = { project_id: near, collection: 'ds', version: 'v0', artifact_id }
    const of = (run: string, options: object) => get(`/api/runs/${run}/artifacts`, options)
    assert.deepEqual(await of(`${near}/maker`, mine.options), { inputs: [], outputs: [version] })
    assert.deepEqual(await of(`${near}/user`, mine.options), { inputs: [version], outputs: [] })
    assert.deepEqual(await of(`${far}/user`, other.options), { inputs: [], outputs: [] })
    for (const path of [`/api/runs/${near}/none/artifacts`, `/api/artifacts/${near}/ds/versions/v9/used_by`])
      assert.equal((await service.send('GET', path)).status, 404)
  })

  it('with a file that is larger than allowed is refused with the limit', async () => {
    const own = await startTestService({ TALLYTREE_MAX_FILE_BYTES: '1000' })
    try {
      const files = { small: 'x'.repeat(1000), large: 'x'.repeat(1001) }
      const client = clientOf(own, 'default/p')
      const { id } = await client.draft('ds', files)
      const [small, large] = await client.fileLinks(id, files)
      assert.equal((await put(small!.uploadUrl!, files.small)).status, 200)
      const refused = await put(large!.uploadUrl!, files.large)
      assert.equal(refused.status, 413)
      assert.match(await refused.text(), /limit of 1000 bytes, which TALLYTREE_MAX_FILE_BYTES sets/)
    } finally {
      await own.stop()
    }
  })

  it('takes no files into a registry', async () => {
    const project = someProject()
    const team = project.split('/')[0]!
    const client = clientOf(service, project)
    const artifactID = Buffer.from(`Artifact:${team}:wandb-registry-x:ds:some`).toString('base64')
    await assert.rejects(client.fileLinks(artifactID, { a: '1' }), /Artifact not found/)
    await assert.rejects(client.manifestLink(artifactID, { a: '1' }), /Artifact not found/)
  })

  it('of another team cannot be told from one that is not there', async () => {
    const [mine, other] = [await memberOf(service, 'mine'), await memberOf(service, 'other')]
    const theirs = clientOf(service, `${other.teams[0]}/p`, other.options)
    const id = await theirs.upload('ds', { a: 'CANARY' })
    const stranger = clientOf(service, `${mine.teams[0]}/p`, mine.options)
    const absent = Buffer.from(
      Buffer.from(id, 'base64')
        .toString()
        .replace(/[^:]+$/, 'none'),
    ).toString('base64')
    const byId = async (one: string) =>
      stranger.graphQl('query ($id: ID!) { artifact(id: $id) { id } }', { id: one })
    assert.deepEqual(await byId(id), await byId(absent))
    for (const mutation of [
      'commitArtifact(input: {artifactID: $id})',
      'deleteArtifact(input: {artifactID: $id})',
    ]) {
      const told = async (one: string) =>
        (await stranger.graphQl(`mutation ($id: ID!) { ${mutation} { artifact { id } } }`, { id: one }))
          .errors?.[0]?.message
      assert.equal(await told(id), await told(absent))
    }
    // Equal content of others is not known here.
    const draft = await stranger.draft('ds', { a: 'CANARY' })
    assert.equal(draft.state, 'PENDING')
    assert.notEqual((await stranger.fileLinks(draft.id, { a: 'CANARY' }))[0]!.uploadUrl, null)
  })
})
