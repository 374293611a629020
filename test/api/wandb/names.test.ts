import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { writesNothing } from '../calls/given.js'
import { clientOf, digestOfEntries, put } from './given.js'

const OUTSIDE = [
  '../../etc/passwd',
  '/abs',
  '..',
  'x/../../y',
  'x/..',
  'C:\\x',
  'c:x',
  '\\\\host\\x',
  'a\\..\\b',
]
const UNPRINTABLE = ['a\u0000b', 'a\nb']
const INSIDE = ['a..b', '...', 'x/..y', 'xy:1', 'größe 100%.bin', 'a\\b', '.hidden', 'a/./b', '\u{1f600}/x']
const MD5 = 'XUFAKrxLKna5cZ2REBfFkg=='

describe('a name that the package wandb sends', () => {
  let service: TestService
  let project: string
  let client: ReturnType<typeof clientOf>
  before(async () => {
    service = await sharedService()
    project = someProject()
    client = clientOf(service, project)
    await client.init('r')
  })
  const messageOf = async (query: string, input: object) =>
    (await client.graphQl(query, { input } as never)).errors?.[0]?.message ?? ''

  it('is refused as the path of a run file if it leaves the folder of its reader', async () => {
    const [entityName, projectName] = project.split('/')
    const create = (path: string) =>
      messageOf(
        'mutation ($input: CreateRunFilesInput!) { createRunFiles(input: $input) { files { uploadUrl } } }',
        { entityName, projectName, runName: 'r', files: ['good', path] },
      )
    for (const path of [...OUTSIDE, ...UNPRINTABLE])
      assert.match(await create(path), /is not valid: the path of a file/)
    for (const path of INSIDE) assert.equal(await create(path), '', path)
  })

  it('is refused as the path of a file of an artifact if it leaves the folder of its reader', async () => {
    const committed = async (path: string) => {
      const contents = { [path]: { digest: 'etag', ref: 'https://content.example/' } }
      const { id } = await client.draft('paths', {}, { digest: digestOfEntries({ [path]: 'etag' }) })
      const { uploadUrl, text } = await client.manifestLink(id, {}, { contents })
      await put(uploadUrl, text)
      return (await client.commit(id)).errors?.[0]?.message ?? ''
    }
    for (const path of OUTSIDE)
      assert.match(await committed(path), /cannot be committed: .* is not valid: the path/)
    for (const path of INSIDE) assert.equal(await committed(path), '', path)
    const { id } = await client.draft('paths', { a: 'never committed' })
    await assert.rejects(client.fileLinks(id, { '../a': '1' }), /"..\/a" is not valid: the path of a file/)
    for (const path of [...OUTSIDE, 'a\u0000b']) {
      const files = [{ path, digest: MD5, size: 1 }]
      assert.equal(
        (await service.post(`/api/artifacts/${project}/rest/versions`, { files })).status,
        422,
        path,
      )
    }
    const files = INSIDE.map((path) => ({ path, digest: MD5, size: 1 }))
    assert.equal((await service.post(`/api/artifacts/${project}/rest/versions`, { files })).status, 200)
  })

  it('is refused as the id of a run if no address can contain it', async () => {
    for (const id of ['a/b', 'a\\b', 'a#b', 'a?b', 'a%2Fb', 'a:b', '.', '..', 'a\nb'])
      await writesNothing(service, () =>
        assert.rejects(client.init(id), /the id of a run has no control characters and none of/),
      )
    assert.equal((await client.init('...ü b-1')).bucket.name, '...ü b-1')
    for (const id of ['.', '..'])
      assert.equal((await service.post(`/api/runs/${project}`, { name: 'a run', id })).status, 422)
  })

  it('is refused as the name of anything else if it is . or ..', async () => {
    const team = project.split('/')[0]!
    for (const name of ['.', '..']) {
      await assert.rejects(client.draft(name, { a: '1' }), /artifactCollectionName/)
      const aliases = [{ artifactCollectionName: 'ds', alias: name }]
      await assert.rejects(client.draft('ds', { a: '1' }, { aliases }), /input\.aliases/)
      await assert.rejects(client.draft('ds', { a: '1' }, { tags: [{ tagName: name }] }), /input\.tags/)
      await assert.rejects(clientOf(service, `${team}/${name}`).init('r'), /no address can contain/)
      for (const [path, body] of [
        [`/api/artifacts/${project}/ds/versions`, { aliases: [name] }],
        ['/api/registries', { name, team }],
        ['/api/teams', { name }],
      ] as const)
        assert.equal((await service.post(path, body)).status, 422, path)
    }
  })

  it('counts in the digest of an artifact, which is computed', async () => {
    const files = { b: '2', a: '1', '\u{1f600}': '3', '\uff5e': '4' }
    const wrong = '0'.repeat(32)
    const upload = (more: { digest: string }) => client.upload('digests', files, more)
    await assert.rejects(
      upload({ digest: wrong }),
      new RegExp(`digest of digests was given as ${wrong}, but`),
    )
    assert.equal(await client.artifact('digests', 'id'), null)
    // In the order of code points, which is not that of UTF-16.
    const digest = '55b806f9d4ba489dfb845920d6b8c71a'
    await upload({ digest })
    assert.equal((await client.artifact('digests', 'digest')).digest, digest)
  })
})
