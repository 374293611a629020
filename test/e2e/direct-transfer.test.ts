import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { clientOf, put } from '../api/wandb/given.js'
import { dataOf, memberOf } from '../api/graphql/given.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { startS3Double, type S3Double } from '../support/s3-double.js'

const FILES = { 'a.txt': 'hello', 'sub/größe.html': '<script>alert(1)</script>' }
const COMMIT = 'mutation ($input: CommitArtifactInput!) { commitArtifact(input: $input) { artifact { id } } }'
const COMPLETE =
  'mutation ($input: CompleteMultipartUploadArtifactInput!) { completeMultipartUploadArtifact(input: $input) { digest } }'

describe('artifacts that clients store in the bucket themselves', () => {
  let double: S3Double
  let service: RunningService
  before(async () => {
    double = await startS3Double()
    service = await startRunningService({
      TALLYTREE_OBJECTS_URL: `${double.url}&public_endpoint=http://localhost:${double.port}`,
      TALLYTREE_MASTER_KEYS: `one:${randomBytes(32).toString('base64')}`,
      TALLYTREE_MAX_FILE_BYTES: '100000',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
    })
  })
  afterEach(() => double.haveNoFault())
  after(async () => {
    await service.remove()
    await double.stop()
  })

  /** A draft with a manifest, and what is needed to store its file. */
  const drafted = async (project: string, content: string) => {
    const client = clientOf(service, project)
    const files = { 'a.bin': content }
    const { id } = await client.draft('ds', files)
    const [link] = await client.fileLinks(id, files)
    const { text, uploadUrl } = await client.manifestLink(id, files)
    assert.equal((await put(uploadUrl, text)).status, 200)
    const refusal = async () => (await client.commit(id)).errors?.[0]?.message
    return { client, id, refusal, uploadUrl: link!.uploadUrl!, uploadHeaders: link!.uploadHeaders }
  }

  it('are stored and read without their bytes passing the service', async () => {
    const client = clientOf(service, 'default/direct')
    await client.upload('ds', FILES)
    const { files, size } = await client.artifact(
      'ds',
      'size files(first: 9) { edges { node { name directUrl } } }',
    )

    assert.equal(size, Object.values(FILES).join('').length)
    for (const { node } of files.edges) {
      assert.ok(node.directUrl.startsWith(service.address))
      const redirect = await fetch(node.directUrl, { redirect: 'manual' })
      assert.equal(redirect.status, 307)
      assert.equal(redirect.headers.get('cache-control'), 'private, no-store')
      assert.match(
        redirect.headers.get('location') ?? '',
        new RegExp(`^http://localhost:${double.port}/.*X-Amz-Expires=900&`),
      )
      const head = await fetch(node.directUrl, { method: 'HEAD' })
      assert.deepEqual(
        [head.status, head.headers.get('content-length')],
        [200, String(FILES[node.name as keyof typeof FILES].length)],
      )
      const answer = await fetch(node.directUrl)
      assert.equal(await answer.text(), FILES[node.name as keyof typeof FILES])
      assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; /)
      assert.equal(answer.headers.get('content-type'), 'application/octet-stream')
    }
    const [link] = await client.fileLinks((await client.draft('other', { 'a.txt': 'hello' })).id, {
      b: 'hello',
    })
    assert.equal(link!.uploadUrl, null)
  })

  it('are versions only once the bucket has all of their content', async () => {
    const { client, id, refusal, uploadUrl, uploadHeaders } = await drafted('default/complete', 'content')
    assert.match((await refusal()) ?? '', /the file a\.bin was not uploaded/)

    assert.equal((await put(uploadUrl, 'other', uploadHeaders)).status, 400)
    assert.match((await refusal()) ?? '', /the file a\.bin was not uploaded/)
    assert.equal(await client.artifact('ds', 'id'), null)

    assert.equal((await put(uploadUrl, 'content', uploadHeaders)).status, 200)
    assert.equal(dataOf(await client.commit(id)).commitArtifact.artifact.id, id)
  })

  it('are refused with another size than their manifest has', async () => {
    const { refusal, uploadUrl, uploadHeaders } = await drafted('default/size', 'content')
    await put(uploadUrl, 'content', uploadHeaders)
    const [key, object] = [...double.objects].at(-1)!
    double.objects.set(key, { ...object, content: Buffer.from('cut'), etag: `"${md5('content')}"` })

    assert.match((await refusal()) ?? '', /the file a\.bin has 3 bytes in the bucket, and 7 in the manifest/)
  })

  it('are refused with a file that is larger than allowed', async () => {
    const { refusal, uploadUrl, uploadHeaders } = await drafted('default/large', 'x'.repeat(100_001))
    assert.equal((await put(uploadUrl, 'x'.repeat(100_001), uploadHeaders)).status, 200)
    assert.match((await refusal()) ?? '', /the file a\.bin exceeds the limit of 100000 bytes/)
  })

  it('are not acknowledged while the bucket is away, and are later', async () => {
    const { client, id, uploadUrl, uploadHeaders } = await drafted('default/away', 'content')
    await put(uploadUrl, 'content', uploadHeaders)
    double.have({ kind: 'error', status: 403, code: 'ExpiredToken' })

    const refused = await service.post('/graphql', {
      query: COMMIT,
      variables: { input: { artifactID: id } },
    })
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1'])
    assert.match(refused.text, /The bucket failed: s3:GetObject \(HeadObject\) is denied/)

    double.haveNoFault()
    assert.equal(dataOf(await client.commit(id)).commitArtifact.artifact.id, id)
    double.have({ kind: 'error', status: 403, code: 'ExpiredToken' })
    const { files } = await client.artifact('ds', 'files(first: 9) { edges { node { directUrl } } }')
    assert.equal((await fetch(files.edges[0].node.directUrl)).status, 503)
  })

  it('are out of reach of other teams, and apart by project', async () => {
    const other = await memberOf(service, 'others')
    const { id, uploadUrl, uploadHeaders } = await drafted('default/mine', 'shared content')
    assert.equal((await put(uploadUrl, 'shared content', uploadHeaders)).status, 200)
    await clientOf(service, 'default/mine').commit(id)

    const input = { artifactFiles: [{ artifactID: id, name: 'a.bin', md5: 'XUFAKrxLKna5cZ2REBfFkg==' }] }
    const asked = await service.post(
      '/graphql',
      {
        query: `mutation ($input: CreateArtifactFilesInput!) { createArtifactFiles(input: $input) { files { edges { node { uploadUrl } } } } }`,
        variables: { input },
      },
      other.options,
    )
    assert.match(asked.text, /no access to its team|not found/i)
    assert.doesNotMatch(asked.text, /X-Amz/)
    assert.match(
      (await (await drafted('default/yours', 'shared content')).refusal()) ?? '',
      /was not uploaded/,
    )
  })

  it('may have large files, which come in parts', async () => {
    const client = clientOf(service, 'default/parts')
    const files = { 'a.bin': 'first second' }
    const { id } = await client.draft('ds', files)
    const pieces = ['first ', 'second']
    const parts = pieces.map((piece, at) => ({ partNumber: at + 1, hexMD5: md5(piece) }))
    const [link] = await client.fileLinks(id, files, parts)
    const { uploadID, uploadUrlParts } = link!.uploadMultipartUrls!
    const completed: { partNumber: number; hexMD5: string }[] = []
    for (const { partNumber, uploadUrl } of uploadUrlParts) {
      const piece = pieces[partNumber - 1]!
      const header = `Content-MD5:${createHash('md5').update(piece).digest('base64')}`
      const answer = await put(uploadUrl, piece, [header])
      completed.push({ partNumber, hexMD5: answer.headers.get('etag')! })
    }
    const complete = (completedParts: typeof completed) =>
      client.graphQl(COMPLETE, {
        input: {
          completeMultipartAction: 'Complete',
          artifactID: id,
          storagePath: link!.storagePath,
          uploadID,
          completedParts,
        },
      })
    assert.match(
      (await complete(completed.slice(1))).errors?.[0]?.message ?? '',
      /does not have all its parts/,
    )
    dataOf(await complete(completed))
    dataOf(await complete(completed))
    const { text, uploadUrl } = await client.manifestLink(id, files)
    await put(uploadUrl, text)

    dataOf(await client.commit(id))

    const read = await client.artifact('ds', 'files(first: 9) { edges { node { directUrl } } }')
    assert.equal(await (await fetch(read.files.edges[0].node.directUrl)).text(), 'first second')
  })

  it('have addresses that are never logged', async () => {
    const client = clientOf(service, 'default/logged')
    await client.upload('ds', FILES)
    await service.stop()
    assert.doesNotMatch(service.output(), /X-Amz-/)
    await service.restart()
  })
})

const md5 = (content: string) => createHash('md5').update(content).digest('hex')
