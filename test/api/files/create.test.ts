import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { Failure } from '../../../src/application/failure.js'
import { readUpload } from '../../../src/api/files/upload.js'
import type { TestService } from '../../support/service.js'
import { sendBytes, type RawAnswer } from '../http/raw.js'
import { itInFull } from '../../counts.js'
import { sharedService, someProject } from '../shared-service.js'
import { eventsOf, textIn, writesNothing } from '../calls/given.js'

const PATHS = ['/file/create', '/files/create']
const LIMIT = 104_857_600

const FORM = { 'content-type': 'multipart/form-data; boundary=b' }

const field = (name: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

const file = (
  content: string | Uint8Array,
  name = 'file',
  filename = 'blob',
  type: string | null = 'application/octet-stream',
): Uint8Array =>
  Buffer.concat([
    Buffer.from(
      `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\n` +
        (type === null ? '\r\n' : `Content-Type: ${type}\r\n\r\n`),
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])

const form = (...parts: readonly (string | Uint8Array)[]): Buffer =>
  Buffer.concat([...parts.map((part) => Buffer.from(part)), Buffer.from('--b--\r\n')])

/** As clients compute it. */
const digestOf = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('base64url').replaceAll('-', 'X').replaceAll('_', 'Y')

const typesOf = ({ status, text }: RawAnswer): readonly string[] => {
  assert.equal(status, 422, text)
  const { detail } = JSON.parse(text) as { detail: readonly { loc: readonly string[]; type: string }[] }
  return detail.map(({ loc, type }) => `${type} ${loc.join('.')}`)
}

describe('a file', () => {
  let service: TestService
  before(async () => (service = await sharedService()))
  const send = (body: Uint8Array, headers: Record<string, string> = FORM, path = PATHS[0]!) =>
    sendBytes(service, path, body, headers)

  const contents: Readonly<Record<string, Uint8Array>> = {
    'some text': Buffer.from('def f(): pass\n'),
    nothing: Buffer.alloc(0),
    'all bytes': Uint8Array.from({ length: 256 }, (_, i) => i),
    'what looks like an end': Buffer.from('x--b--\r\n--c--\r\n-b'),
    'what would not be a text': Buffer.from([0xff, 0xfe, 0x00, 0xc3]),
    'a megabyte': Buffer.alloc(1_000_000, 'x'),
  }
  for (const [name, content] of Object.entries(contents))
    for (const path of PATHS)
      it(`is stored under the digest that clients compute: ${name}, ${path}`, async () => {
        const project = someProject()
        const answer = await send(form(field('project_id', project), file(content)), FORM, path)
        assert.equal(answer.status, 200, answer.text)
        const { digest } = JSON.parse(answer.text) as { digest: string }
        assert.equal(digest, digestOf(content))
        assert.match(digest, /^[A-Za-z0-9]{43}$/)
        const [stored, ...more] = await eventsOf(service, `file-${project}/${digest}`)
        assert.deepEqual([stored?.type, stored?.data['size'], more], ['FileStored', content.length, []])
        const kept = await service.stores.blobs.get(textIn(stored!.data, 'blob'))
        assert.deepEqual(Buffer.from(kept!), Buffer.from(content))
      })

  it('sent again writes nothing', async () => {
    const project = someProject()
    const body = form(field('project_id', project), file('content'))
    const first = await send(body)
    await writesNothing(service, async () => assert.equal((await send(body)).text, first.text))
  })

  it('may come before the name of its project, beside fields nobody knows, under any name', async () => {
    const project = someProject()
    for (const body of [
      form(file('content'), field('project_id', project)),
      form(field('expected_digest', ''), field('project_id', project), file('content'), field('more', '1')),
      form(field('project_id', project), file('other', 'attachment'), file('content')),
      form(field('project_id', project), file('content', 'file', '../../etc/passwd')),
      form(field('project_id', project), file('content', 'file', 'obj.py', 'text/x-python')),
      form(field('project_id', project), file('content', 'file', 'obj.py', null)),
      form(field('project_id', 'other/project'), field('project_id', project), file('content')),
      form(field('__proto__', 'x'), field('project_id', project), file('content')),
    ]) {
      const answer = await send(body)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(JSON.parse(answer.text), { digest: digestOf('content') })
    }
  })

  it('is taken with the digest that the client expects, and is a 409 with another', async () => {
    const project = someProject()
    const [expected, other] = [digestOf('content'), digestOf('Content')]
    for (const path of PATHS) {
      await writesNothing(service, async () => {
        for (const wrong of [other, 'x', expected.toLowerCase(), `${expected} `, 'x'.repeat(70_000)]) {
          const body = form(field('project_id', project), field('expected_digest', wrong), file('content'))
          const answer = await send(body, FORM, path)
          assert.deepEqual(
            [answer.status, JSON.parse(answer.text)],
            [
              409,
              {
                reason: `The digest of the file is ${expected}, which differs from the expected_digest in the form.`,
              },
            ],
          )
        }
      })
      const body = form(file('content'), field('expected_digest', expected), field('project_id', project))
      assert.deepEqual(JSON.parse((await send(body, FORM, path)).text), { digest: expected })
    }
  })

  const CANARY = 'CANARY-c0ffee'
  const invalid: Readonly<Record<string, readonly [Uint8Array, Record<string, string>, string]>> = {
    'no content type': [form(field('project_id', 'a/b')), {}, 'multipart_invalid body'],
    JSON: [
      Buffer.from(`{"a":"${CANARY}"}`),
      { 'content-type': 'application/json' },
      'multipart_invalid body',
    ],
    'no boundary': [form(file(CANARY)), { 'content-type': 'multipart/form-data' }, 'multipart_invalid body'],
    'another boundary': [
      form(file(CANARY)),
      { 'content-type': 'multipart/form-data; boundary=c' },
      'multipart_invalid body',
    ],
    'an empty body': [Buffer.alloc(0), FORM, 'multipart_invalid body'],
    'no end': [
      form(field('project_id', 'a/b'), file(CANARY)).subarray(0, -9),
      FORM,
      'multipart_invalid body',
    ],
    'an end in the middle of a header': [form(file(CANARY)).subarray(0, 30), FORM, 'multipart_invalid body'],
    'an end in the middle of the file': [
      form(file('x'.repeat(100_000))).subarray(0, 50_000),
      FORM,
      'multipart_invalid body',
    ],
    'no parts': [form(), FORM, 'missing body.project_id'],
    'no project': [form(file(CANARY)), FORM, 'missing body.project_id'],
    'no file': [form(field('project_id', 'default/p')), FORM, 'missing body.file'],
    'a file that is a field': [
      form(field('project_id', 'default/p'), field('file', CANARY)),
      FORM,
      'missing body.file',
    ],
    'a file of another name': [
      form(field('project_id', 'default/p'), file(CANARY, 'blob')),
      FORM,
      'missing body.file',
    ],
    'two files': [
      form(field('project_id', 'default/p'), file('a'), file('b')),
      FORM,
      'value_error body.file',
    ],
    'a project that is a file': [
      form(file('default/p', 'project_id'), file(CANARY)),
      FORM,
      'missing body.project_id',
    ],
    'a project that cannot be one': [
      form(field('project_id', CANARY), file('a')),
      FORM,
      'string_pattern_mismatch body.project_id',
    ],
    'a project with more in it': [
      form(field('project_id', `a/b/${CANARY}`), file('a')),
      FORM,
      'string_pattern_mismatch body.project_id',
    ],
    'a project of a megabyte': [
      form(field('project_id', 'a'.repeat(1_000_000)), file('a')),
      FORM,
      'string_pattern_mismatch body.project_id',
    ],
  }
  for (const [name, [body, headers, problem]] of Object.entries(invalid))
    it(`is a 422 with ${name}`, async () => {
      await writesNothing(service, async () => {
        for (const path of PATHS) {
          const answer = await send(body, headers, path)
          assert.deepEqual(typesOf(answer), [problem])
          assert.ok(!answer.text.includes(CANARY))
        }
      })
    })

  itInFull('may be as large as the limit, and no larger', async () => {
    const project = someProject()
    const content = Buffer.alloc(LIMIT, 'z')
    const fits = await send(form(field('project_id', project), file(content)))
    assert.deepEqual([fits.status, fits.text], [200, JSON.stringify({ digest: digestOf(content) })])
    await writesNothing(service, async () => {
      const answer = await send(form(field('project_id', project), file(Buffer.alloc(LIMIT + 1, 'z'))))
      assert.equal(answer.status, 413)
      assert.match(answer.text, /104857600 bytes/)
    })
  })

  it('of a project of others is not even stored', async () => {
    const team = someProject().split('/')[0]!
    await service.teams.create(team)
    const added = await service.post(`/api/teams/${team}/members`, {
      user: `user-of-${team}`,
      role: 'member',
    })
    const { api_key } = added.json<{ api_key: string }>()
    const headers = { ...FORM, authorization: `Bearer ${api_key}` }
    const content = `only here ${team}`
    const body = form(field('project_id', 'default/project'), file(content))
    assert.equal((await send(body, headers)).status, 404)
    assert.equal(
      await service.stores.blobs.get(createHash('sha256').update(content).digest('hex')),
      undefined,
    )
  })
})

describe('an upload that breaks off', () => {
  it('ends the storing of its file, whenever it does', async () => {
    const whole = form(field('project_id', 'a/b'), file('x'.repeat(200_000)))
    for (const length of [0, 1, 60, 150, 230, 1000, 150_000]) {
      let ended = 0
      let begun = 0
      const store = openInMemoryBlobStore()
      const blobs: typeof store = {
        ...store,
        putStream: async (...asked) => {
          begun += 1
          // A disk takes its time to open a file.
          await new Promise((resolve) => setTimeout(resolve, 5))
          return store.putStream(...asked).finally(() => (ended += 1))
        },
      }
      const body = new Readable({ read: () => undefined })
      body.push(whole.subarray(0, length))
      const reading = readUpload(blobs, 'team', FORM, body, () => true)
      setImmediate(() => body.destroy(new Error('aborted')))
      await assert.rejects(reading, Failure)
      await new Promise((resolve) => setTimeout(resolve, 20))
      assert.equal(ended, begun, `after ${length} bytes`)
    }
  })
})
