import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { get, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { accepted } from '../calls/given.js'
import { memberOf } from '../graphql/given.js'
import { clientOf, put } from './given.js'

const md5 = (content: string) => createHash('md5').update(content).digest('hex')

describe('one file of an artifact, read at the address that the package wandb makes', () => {
  let service: TestService
  let key: string
  let team: string
  let project: string
  let id: string
  before(async () => {
    service = await sharedService()
    const member = await memberOf(service, 'own')
    ;({ key } = member.options)
    team = member.teams[0]!
    project = `${team}/p`
    id = await clientOf(service, project).upload('ds', { a: 'hello' })
  })

  const addressOf = (artifact: string, name = 'a', content = 'hello', within = project) =>
    `/artifactsV2/default/${within}/ds/${artifact}/${md5(content)}/${name}`

  /** The path as it is: `fetch` would encode it. */
  const rawGet = async (path: string, headers: IncomingHttpHeaders = {}) => {
    const authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`
    const { hostname, port } = new URL(service.address)
    const response = await new Promise<Parameters<NonNullable<Parameters<typeof get>[2]>>[0]>(
      (resolve, reject) =>
        get({ hostname, port, path, headers: { authorization, ...headers } }, resolve).on('error', reject),
    )
    return { status: response.statusCode, headers: response.headers, text: await text(response) }
  }

  it('is answered whatever form the id of the artifact has', async () => {
    const bare = id.replace(/=+$/, '')
    for (const one of [
      bare,
      `${bare}==`,
      `${bare}%3D%3D`,
      `${bare}=`,
      encodeURIComponent(id),
      `${bare}%253D%253D`,
    ]) {
      const answer = await rawGet(addressOf(one))
      assert.deepEqual([answer.status, answer.text], [200, 'hello'], one)
    }
    const older = await rawGet(`/artifactsV2/default/${team}/${id}/${md5('hello')}`)
    assert.deepEqual([older.status, older.text], [200, 'hello'])
  })

  it('is answered under names with blanks, #, % and characters outside of ASCII', async () => {
    const client = clientOf(service, project)
    const files = { 'a b': '1', 'a#b': '2', '100%': '3', 'a%20b': '4', größe: '5', 'sub/größe %.bin': '6' }
    const made = await client.upload('ds', files)
    for (const [path, content] of Object.entries(files)) {
      const name = path.slice(path.lastIndexOf('/') + 1)
      for (const one of [
        encodeURIComponent(name),
        encodeURI(name).replaceAll('%25', '%'),
        encodeURI(name).split('#')[0]!,
      ]) {
        const answer = await rawGet(addressOf(made, one, content))
        assert.deepEqual([answer.status, answer.text], [200, content], one)
      }
    }
  })

  it('is answered with HEAD and in ranges as at other links', async () => {
    const head = await service.send('HEAD', addressOf(id))
    assert.deepEqual(
      [head.status, head.headers.get('content-length'), head.headers.get('accept-ranges'), head.text],
      [200, '5', 'bytes', ''],
    )
    const part = await rawGet(addressOf(id), { range: 'bytes=1-3' })
    assert.deepEqual([part.status, part.headers['content-range'], part.text], [206, 'bytes 1-3/5', 'ell'])
    assert.equal((await rawGet(addressOf(id), { range: 'bytes=5-' })).status, 416)
  })

  it('is not found without the content, without the artifact, or under a text that is no id', async () => {
    const absent = Buffer.from(
      Buffer.from(id, 'base64')
        .toString()
        .replace(/[^:]+$/, 'none'),
    ).toString('base64')
    for (const path of [addressOf(id, 'a', 'other'), addressOf(absent), addressOf('x'), addressOf('%')])
      assert.equal((await rawGet(path)).status, 404, path)
  })

  it('is open to keys of the team alone', async () => {
    const [mine, other] = [await memberOf(service, 'mine'), await memberOf(service, 'other')]
    const theirs = `${mine.teams[0]}/p`
    const made = await clientOf(service, theirs, mine.options).upload('ds', { a: 'CANARY' })
    const path = addressOf(made, 'a', 'CANARY', theirs)
    assert.equal((await service.send('GET', path, undefined, mine.options)).text, 'CANARY')
    const own = addressOf(made, 'a', 'CANARY', `${other.teams[0]}/p`)
    for (const one of [path, own]) {
      const refused = await service.send('GET', one, undefined, other.options)
      const nowhere = await service.send('GET', addressOf('x'), undefined, other.options)
      assert.deepEqual([refused.status, refused.text], [404, nowhere.text])
    }
    assert.equal((await service.send('GET', path, undefined, { key: null })).status, 401)
  })

  it('is answered through the link of a registry to keys of its team that may see the version', async () => {
    const [maker, reader] = [await memberOf(service, 'maker'), await memberOf(service, 'reader')]
    const [source, registry] = [maker.teams[0]!, `${reader.teams[0]}/wandb-registry-shared`]
    const made = await clientOf(service, `${source}/p`, maker.options).upload('ds', { a: 'CANARY' })
    accepted(await service.post('/api/registries', { name: 'shared', team: reader.teams[0] }))
    const body = { entity: source, project: 'p', collection: 'ds', version: 'v0' }
    accepted(await service.post(`/api/registries/shared/ds/links?team=${reader.teams[0]}`, body))
    const path = addressOf(made, 'a', 'CANARY', registry)
    const statusFor = async (options: object) => (await service.send('GET', path, undefined, options)).status
    assert.deepEqual(
      [await statusFor({}), await statusFor(maker.options), await statusFor(reader.options)],
      [200, 404, 404],
    )
  })

  it('is stored by a request whose answer has no body', async () => {
    const client = clientOf(service, project)
    const { id } = await client.draft('ds', { a: 'new' })
    const [{ uploadUrl }] = (await client.fileLinks(id, { a: 'new' })) as unknown as [{ uploadUrl: string }]
    const manifest = await client.manifestLink(id, { a: 'new' })
    await client.init('r')
    const { createRunFiles } = (
      await client.graphQl(
        'mutation ($input: CreateRunFilesInput!) { createRunFiles(input: $input) { files { uploadUrl } } }',
        { input: { entityName: team, projectName: project.split('/')[1]!, runName: 'r', files: ['f'] } },
      )
    ).data as { createRunFiles: { files: [{ uploadUrl: string }] } }
    const puts = [
      [uploadUrl, 'new'],
      [manifest.uploadUrl, manifest.text],
      [createRunFiles.files[0].uploadUrl, 'content'],
    ] as const
    for (const [url, content] of puts) {
      const answer = await put(url, content)
      assert.deepEqual(
        [answer.status, answer.headers.get('content-length'), await answer.text()],
        [200, '0', ''],
      )
    }
  })
})
