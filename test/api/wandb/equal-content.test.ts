import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, writesNothing } from '../calls/given.js'
import { dataOf, memberOf } from '../graphql/given.js'
import { clientOf, put } from './given.js'

describe('equal content that several runs log with the package wandb', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('at once is one version, under both ids and of both runs', async () => {
    const project = someProject()
    const [team, name] = project.split('/') as [string, string]
    const client = clientOf(service, project)
    for (const run of ['a', 'b', 'c']) await client.init(run)
    const files = { a: '1' }
    const alias = (one: string) => ({ artifactCollectionName: 'ds', alias: one })
    const draftOf = (run: string) =>
      client.draft('ds', files, {
        runName: run,
        clientID: `client-of-${run}-${project}`,
        aliases: [alias('latest'), alias(`from-${run}`)],
        tags: [{ tagName: run }],
      })
    const [a, b] = [await draftOf('a'), await draftOf('b')]
    for (const { id } of [a, b]) {
      for (const { name: path, uploadUrl } of await client.fileLinks(id, files))
        if (uploadUrl !== null) await put(uploadUrl, files[path as 'a'])
      const { text, uploadUrl } = await client.manifestLink(id, files)
      await put(uploadUrl, text)
    }
    for (const { id } of [a, b])
      assert.equal(dataOf(await client.commit(id)).commitArtifact.artifact.id, a.id)
    await writesNothing(service, () => client.commit(b.id))
    const c = await draftOf('c')
    assert.deepEqual(c, { id: a.id, state: 'COMMITTED' })
    const read = async (id: string) =>
      dataOf(
        await client.graphQl(
          `query ($id: ID!) { artifact(id: $id) { id versionIndex state aliases { alias } tags { name } fileCount
            currentManifest { id } files { edges { node { name } } } } }`,
          { id },
        ),
      ).artifact
    const version = await read(a.id)
    assert.deepEqual(version, await read(b.id))
    assert.deepEqual(
      [version.versionIndex, version.state, version.aliases.map((one: { alias: string }) => one.alias)],
      [0, 'COMMITTED', ['from-a', 'from-b', 'from-c', 'latest']],
    )
    assert.deepEqual(version.tags, [{ name: 'a' }, { name: 'b' }, { name: 'c' }])
    const mapping = async (clientID: string, options = {}) =>
      dataOf(
        await clientOf(service, project, options).graphQl(
          'query ($c: ID!) { clientIDMapping(clientID: $c) { serverID } }',
          { c: clientID },
        ),
      ).clientIDMapping
    for (const run of ['a', 'b', 'c']) {
      assert.deepEqual(
        (await client.run(run, 'outputArtifacts { edges { node { id } } }')).outputArtifacts.edges,
        [{ node: { id: a.id } }],
      )
      assert.deepEqual(await mapping(`client-of-${run}-${project}`), { serverID: a.id })
    }
    assert.equal(await mapping('unknown'), null)
    const stranger = await memberOf(service, 'stranger')
    assert.equal(await mapping(`client-of-a-${project}`, stranger.options), null)

    const registry = `wandb-registry-merged`
    accepted(await service.post('/api/registries', { name: 'merged', team }))
    const done = async (mutation: string, input: object) =>
      dataOf(await client.graphQl(mutation, { input } as never))
    await done(
      'mutation ($input: UpdateArtifactInput!) { updateArtifact(input: $input) { artifact { id } } }',
      { artifactID: b.id, metadata: '{"rows":1}' },
    )
    await done('mutation ($input: LinkArtifactInput!) { linkArtifact(input: $input) { versionIndex } }', {
      artifactID: b.id,
      artifactPortfolioName: 'best',
      entityName: team,
      projectName: registry,
    })
    const linked = { entityName: team, projectName: registry, artifactCollectionName: 'best', alias: 'prod' }
    const ALIASES = { artifactID: b.id, aliases: [linked] }
    await done('mutation ($input: AddAliasesInput!) { addAliases(input: $input) { success } }', ALIASES)
    const used = { entityName: team, projectName: name, runName: 'c', artifactID: b.id }
    await done(
      'mutation ($input: UseArtifactInput!) { useArtifact(input: $input) { artifact { id } } }',
      used,
    )
    const after = await client.artifact(
      'ds:v0',
      'metadata aliases { alias } usedBy { edges { node { name } } }',
    )
    assert.equal(after.metadata, '{"rows":1}')
    assert.deepEqual(after.usedBy.edges, [{ node: { name: 'c' } }])
    assert.ok(after.aliases.some((one: { alias: string }) => one.alias === 'prod'))
  })

  it('adds to the version that an incremental artifact names as its base', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    const increment = async (files: Readonly<Record<string, string>>, base: string | null) => {
      const { id } = await client.draft('rows', files)
      for (const { name, uploadUrl } of await client.fileLinks(id, files))
        if (uploadUrl !== null) await put(uploadUrl, files[name]!)
      const { text, uploadUrl } = await client.manifestLink(id, files, undefined, 'INCREMENTAL', base)
      await put(uploadUrl, text)
      return client.commit(id)
    }
    const first = dataOf(await increment({ '0': 'zero', same: 'old' }, null)).commitArtifact.artifact
    const second = dataOf(await increment({ '1': 'one', same: 'new' }, first.id)).commitArtifact.artifact
    assert.deepEqual([first.versionIndex, second.versionIndex], [0, 1])
    const { fileCount, size, files, digest, currentManifest } = await client.artifact(
      'rows',
      'fileCount size digest files { edges { node { name directUrl } } } currentManifest { file { directUrl } }',
    )
    const read: Record<string, string> = {}
    for (const { node } of files.edges) read[node.name] = await (await fetch(node.directUrl)).text()
    assert.deepEqual([fileCount, size, read], [3, 10, { '0': 'zero', '1': 'one', same: 'new' }])
    const { contents } = JSON.parse(await (await fetch(currentManifest.file.directUrl)).text())
    assert.deepEqual(Object.keys(contents).sort(), ['0', '1', 'same'])
    await client.upload('rows', read)
    assert.deepEqual(await client.artifact('rows', 'digest versionIndex'), { digest, versionIndex: 1 })
    await increment({ '2': 'two' }, null)
    const newest = await client.artifact('rows', 'versionIndex files { edges { node { name } } }')
    const names = newest.files.edges.map(({ node }: { node: { name: string } }) => node.name).sort()
    assert.deepEqual([newest.versionIndex, names], [2, ['0', '1', '2', 'same']])
    const other = await client.upload('other', { a: '1' })
    await assert.rejects(increment({ '2': 'two' }, other), /a version of the same collection/)
  })

  it('is kept when one of them is deleted with its artifacts, and deleted with the last', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    const ids: string[] = []
    for (const run of ['a', 'b']) {
      ids.push(String((await client.init(run)).bucket.id))
      await client.upload('ds', { a: '1' }, { runName: run })
    }
    const remove = async (id: string) =>
      dataOf(
        await client.graphQl(
          'mutation ($id: ID!) { deleteRun(input: {id: $id, deleteArtifacts: true}) { clientMutationId } }',
          { id },
        ),
      )
    await remove(ids[0]!)
    const { id } = await client.artifact('ds:v0', 'id')
    await remove(ids[1]!)
    assert.equal(await client.artifact('ds:v0', 'id'), null)
    const byId = await client.graphQl('query ($id: ID!) { artifact(id: $id) { state } }', { id })
    assert.equal(dataOf(byId).artifact, null)
  })
})
