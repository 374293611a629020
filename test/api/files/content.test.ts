import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readdir, readlink } from 'node:fs/promises'
import { request } from 'node:http'
import { ADMINISTRATOR_KEY, type TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, reasonOf, textIn, told, writesNothing } from '../calls/given.js'

const PATHS = ['/file/content', '/files/content', '/traces/files/content']
const UNKNOWN = 'File not found in this project.'

describe("a file's content", () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const authorization = `Bearer ${ADMINISTRATOR_KEY}`

  const store = async (project_id: string, content: Uint8Array): Promise<string> => {
    const body = new FormData()
    body.append('project_id', project_id)
    body.append('file', new Blob([Uint8Array.from(content)]), 'blob')
    const answer = await fetch(`${service.address}/file/create`, {
      method: 'POST',
      headers: { authorization },
      body,
    })
    return ((await answer.json()) as { digest: string }).digest
  }

  const read = (path: string, asked: object, key = ADMINISTRATOR_KEY) =>
    fetch(`${service.address}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    })

  const contents: Readonly<Record<string, Uint8Array>> = {
    nothing: Buffer.alloc(0),
    'one byte': Buffer.from([0]),
    'all bytes': Uint8Array.from({ length: 256 }, (_, i) => i),
    'a text': Buffer.from('def f(): return "é"\r\n'),
    'five megabytes': randomBytes(5_000_000),
  }
  for (const [name, content] of Object.entries(contents))
    it(`is read at once as it was stored: ${name}`, async () => {
      const project_id = someProject()
      const digest = await store(project_id, content)
      for (const path of PATHS) {
        const answer = await read(path, { project_id, digest })
        assert.equal(answer.status, 200)
        assert.equal(answer.headers.get('content-type'), 'application/octet-stream')
        assert.equal(answer.headers.get('content-length'), String(content.length))
        assert.match(answer.headers.get('tallytree-position') ?? '', /^\d+$/)
        assert.deepEqual(Buffer.from(await answer.arrayBuffer()), Buffer.from(content))
      }
    })

  it('is known only in the project it was stored in, whoever else has the same', async () => {
    const [mine, other] = [someProject(), someProject()]
    const digest = await store(other, Buffer.from('shared'))
    for (const path of PATHS) reasonOf(await service.post(path, { project_id: mine, digest }), 404)
    const team = mine.split('/')[0]!
    await service.teams.create(team).json()
    const added = await service.post(`/api/teams/${team}/members`, { user: `u-${team}`, role: 'member' })
    const key = textIn(accepted(added), 'api_key')
    for (const project_id of [other, `none-${randomUUID()}/p`]) {
      const answer = await service.post(PATHS[0]!, { project_id, digest }, { key })
      assert.equal(reasonOf(answer, 404), 'Project not found, or the API key has no access to its team.')
    }
    assert.equal(
      (await service.post(PATHS[0]!, { project_id: mine, digest }, { key })).text.includes('shared'),
      false,
    )
  })

  it('is a 404 under any digest that is not that of a file, and asking writes nothing', async () => {
    const project_id = someProject()
    const digest = await store(project_id, Buffer.from('content'))
    const hex = createHash('sha256').update('content').digest('hex')
    await writesNothing(service, async () => {
      for (const odd of [
        '',
        'latest',
        hex,
        `${digest}/`,
        `../${digest}`,
        '\u0000',
        '\ud800',
        'x'.repeat(1e6),
      ])
        assert.equal(reasonOf(await service.post(PATHS[0]!, { project_id, digest: odd }), 404), UNKNOWN)
    })
  })

  it('is asked for by project and digest, and by nothing else', async () => {
    assert.deepEqual(told(await service.post(PATHS[0]!, { more: 1 })).toSorted(), [
      'extra_forbidden more',
      'missing digest',
      'missing project_id',
    ])
  })

  it('is let go when its reader goes away', async () => {
    const project_id = someProject()
    const digest = await store(project_id, randomBytes(20_000_000))
    await Promise.all(Array.from({ length: 10 }, () => readAndLeave(service, { project_id, digest })))
    for (let tries = 0; (await openBlobs()) > 0; tries += 1) {
      assert.ok(tries < 1000, 'files stay open')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.deepEqual(
      service.logged.filter(({ event }) => event === 'request.failed' || event === 'response.aborted'),
      [],
    )
  })
})

/** Takes the first bytes of an answer and closes the connection. */
const readAndLeave = ({ address }: TestService, asked: object): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${ADMINISTRATOR_KEY}`, 'content-type': 'application/json' }
    const sent = request(`${address}${PATHS[0]}`, { method: 'POST', headers }, (response) =>
      response.once('data', () => {
        response.destroy()
        resolve()
      }),
    )
    sent.on('error', reject)
    sent.end(JSON.stringify(asked))
  })

/** Descriptors of this process that lead to a blob; none is counted where the system does not tell. */
const openBlobs = async (): Promise<number> => {
  const descriptors = await readdir('/proc/self/fd').catch(() => [])
  const targets = await Promise.all(
    descriptors.map((descriptor) => readlink(`/proc/self/fd/${descriptor}`).catch(() => '')),
  )
  return targets.filter((target) => /\/blobs\/[0-9a-f]{2}\/[0-9a-f]{2}\//.test(target)).length
}
