import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, eventsOf, writesNothing } from '../calls/given.js'
import { dataOf, memberOf } from '../graphql/given.js'
import { clientOf } from './given.js'

const FIELDS =
  '__typename id name description tags { edges { node { name } } } type: defaultArtifactType { name }'

describe('a collection, changed with the package wandb', () => {
  let service: TestService
  let project: string
  let client: ReturnType<typeof clientOf>
  before(async () => (service = await sharedService()))
  beforeEach(() => {
    project = someProject()
    client = clientOf(service, project)
  })

  const collection = async (name: string, of = client, at = project) => {
    const [e, p] = at.split('/') as [string, string]
    const query = `query ($e: String, $p: String, $n: String!) { project(entityName: $e, name: $p) { artifactCollection(name: $n) { ${FIELDS} } } }`
    return dataOf(await of.graphQl(query, { e, p, n: name })).project.artifactCollection
  }
  const change = (mutation: string, input: object, of = client) => {
    const type = `${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input`
    const fields = /Assign/.test(mutation) ? '__typename' : 'artifactCollection { state description }'
    return of.graphQl(`mutation ($input: ${type}!) { result: ${mutation}(input: $input) { ${fields} } }`, {
      input,
    } as never)
  }
  const messageOf = async (...of: Parameters<typeof change>) =>
    (await change(...of)).errors?.[0]?.message ?? ''

  it('has the description and the tags that it was given last', async () => {
    await client.upload('ds', { a: '1' })
    const { id, description, tags } = await collection('ds')
    assert.deepEqual([description, tags.edges], [null, []])
    const [entityName, projectName] = project.split('/')
    const tagged = { entityName, projectName, artifactCollectionName: 'ds' }
    const described = { artifactSequenceID: id, name: 'ds', description: 'of numbers' }
    const update = async () => dataOf(await change('updateArtifactSequence', described))
    await update()
    await writesNothing(service, update)
    dataOf(
      await change('createArtifactCollectionTagAssignments', {
        ...tagged,
        tags: [{ tagName: 'x' }, { tagName: 'y' }],
      }),
    )
    dataOf(await change('deleteArtifactCollectionTagAssignments', { ...tagged, tags: [{ tagName: 'x' }] }))
    const after = await collection('ds')
    assert.deepEqual([after.description, after.tags.edges], ['of numbers', [{ node: { name: 'y' } }]])
    dataOf(await change('updateArtifactSequence', { artifactSequenceID: id, name: 'ds', description: null }))
    assert.equal((await collection('ds')).description, null)
  })

  it('is not renamed, and is not found by keys of other teams', async () => {
    await client.upload('ds', { a: '1' })
    const { id } = await collection('ds')
    const renamed = { artifactSequenceID: id, name: 'other', description: null }
    assert.match(await messageOf('updateArtifactSequence', renamed), /ds cannot be renamed: its versions/)
    const stranger = clientOf(service, project, (await memberOf(service, 'stranger')).options)
    const absent = Buffer.from('Collection:none%2Fp:ds').toString('base64')
    for (const mutation of ['updateArtifactSequence', 'deleteArtifactSequence'])
      for (const one of [id, absent])
        assert.equal(
          await messageOf(mutation, { artifactSequenceID: one }, stranger),
          'Collection not found.',
        )
  })

  it('is deleted with its versions, their aliases and links, and can be made again with another type', async () => {
    const team = project.split('/')[0]!
    const [first] = [await client.upload('ds', { a: '1' }), await client.upload('ds', { a: '2' })]
    accepted(await service.post('/api/registries', { name: 'models', team }))
    await client.link(first, 'best')
    const { id } = await collection('ds')
    dataOf(await change('updateArtifactSequence', { artifactSequenceID: id, description: 'by mistake' }))
    const { result } = dataOf(await change('deleteArtifactSequence', { artifactSequenceID: id }))
    assert.equal(result.artifactCollection.state, 'DELETED')
    assert.equal(await collection('ds'), null)
    assert.equal(await client.artifact('ds:v0', 'id'), null)
    assert.equal(
      await collection(
        'best',
        clientOf(service, `${team}/wandb-registry-models`),
        `${team}/wandb-registry-models`,
      ),
      null,
    )
    assert.deepEqual(accepted(await service.send('GET', `/api/artifacts/${project}`))['data'], [])
    assert.equal(
      await messageOf('deleteArtifactSequence', { artifactSequenceID: id }),
      'Collection not found.',
    )
    await client.upload('ds', { a: '1' }, { artifactTypeName: 'model' })
    const again = await collection('ds')
    assert.deepEqual([again.type.name, again.description], ['model', null])
    assert.equal((await client.artifact('ds', 'versionIndex')).versionIndex, 2)
  })

  it('of a registry is described, and deleted without the versions that it links to', async () => {
    const team = project.split('/')[0]!
    const registry = `${team}/wandb-registry-models`
    const artifactID = await client.upload('ds', { a: '1' })
    accepted(await service.post('/api/registries', { name: 'models', team }))
    await client.link(artifactID, 'best')
    const best = () => collection('best', clientOf(service, registry), registry)
    const { id, __typename } = await best()
    assert.equal(__typename, 'ArtifactPortfolio')
    dataOf(await change('updateArtifactPortfolio', { artifactPortfolioID: id, description: 'the best' }))
    assert.equal((await best()).description, 'the best')
    dataOf(await change('deleteArtifactPortfolio', { artifactPortfolioID: id }))
    assert.equal(await best(), null)
    assert.equal((await client.artifact('ds:v0', 'id')).id, artifactID)
    const last = (await eventsOf(service, `registered-${team}/models/best`)).slice(-2).map(({ type }) => type)
    assert.deepEqual(last, ['AliasRemoved', 'VersionUnlinked'])
  })
})

describe('a file of a run', () => {
  it('has the MD5 "0" if it is not there, and is deleted with deleteFiles', async () => {
    const service = await sharedService()
    const project = someProject()
    const [entityName, projectName] = project.split('/') as [string, string]
    const client = clientOf(service, project)
    await client.init('r')
    const create = async (files: readonly string[]) =>
      dataOf(
        await client.graphQl(
          'mutation ($input: CreateRunFilesInput!) { createRunFiles(input: $input) { files { uploadUrl } } }',
          { input: { entityName, projectName, runName: 'r', files: [...files] } },
        ),
      ).createRunFiles.files as readonly { uploadUrl: string }[]
    for (const { uploadUrl } of await create(['a.bin', 'b c.bin']))
      assert.equal((await fetch(uploadUrl, { method: 'PUT', body: 'content' })).status, 200)
    const files = async (names: string) => {
      const { fileCount, files } = await client.run(
        'r',
        `fileCount files${names} { edges { node { id name md5 url } } }`,
      )
      return { fileCount, nodes: files.edges.map(({ node }: { node: object }) => node) }
    }
    const missing = await files('(names: ["missing.bin", "a.bin"])')
    assert.deepEqual(
      missing.nodes.map(({ name, md5 }: { name: string; md5: string }) => [name, md5 === '0']),
      [
        ['a.bin', false],
        ['missing.bin', true],
      ],
    )
    assert.equal((await fetch(missing.nodes[1].url)).status, 404)
    const { id } = (await files('(names: ["b c.bin"])')).nodes[0]
    const remove = (one: string, options = {}) =>
      clientOf(service, project, options).graphQl(
        'mutation deleteFiles($files: [ID!]!, $projectId: Int) { deleteFiles(input: {files: $files, projectId: $projectId}) { success } }',
        { files: [one], projectId: 0 },
      )
    const stranger = await memberOf(service, 'stranger')
    assert.match((await remove(id, stranger.options)).errors?.[0]?.message ?? '', /not found/i)
    assert.equal((await files('')).fileCount, 2)
    assert.deepEqual(dataOf(await remove(id)).deleteFiles, { success: true })
    await writesNothing(service, () => remove(id))
    const left = await files('')
    assert.deepEqual([left.fileCount, left.nodes.length], [1, 1])
    for (const one of ['x', Buffer.from('File:a:b').toString('base64')])
      assert.notEqual((await remove(one)).errors, undefined)
  })
})
