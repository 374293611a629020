import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../support/compiled.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { startS3Double, type S3Double } from '../support/s3-double.js'

const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'hush-secret' }
const KEYS = { TALLYTREE_MASTER_KEYS: `one:${randomBytes(32).toString('base64')}` }
const LOADED = { NODE_OPTIONS: `--require ${join(ROOT, 'test/support/print-loaded.cjs')}` }

describe('the service over a bucket', () => {
  let double: S3Double
  let service: RunningService | undefined
  beforeEach(async () => {
    double = await startS3Double()
  })
  afterEach(async () => {
    await service?.remove()
    await double.stop()
  })

  it('keeps payloads and secrets there, and nothing of them in its data directory', async () => {
    const environment = { TALLYTREE_OBJECTS_URL: double.url, ...CREDENTIALS, ...KEYS, ...LOADED }
    service = await startRunningService(environment)
    const text = 'x'.repeat(300_000)

    const { id } = await service.calls.start({ inputs: { text } }).json()
    await service.send('PUT', '/api/teams/default/secrets/TOKEN', { value: 'canary-value' })
    await service.stop()
    await rm(join(service.dataDirectory, 'blob-cache'), { recursive: true })
    await service.restart()

    const read = await service.post('/call/read', { project_id: 'default/project', id })
    assert.equal(read.json<{ call: { inputs: { text: string } } }>().call.inputs.text, text)
    const secrets = await service.send('GET', '/api/teams/default/secrets')
    assert.match(secrets.text, /TOKEN/)
    assert.deepEqual([...double.objects.keys()].map((key) => key.split('/').slice(0, 2).join('/')).sort(), [
      'data/blobs',
      'data/log',
      'data/secrets',
      'data/secrets',
    ])
    const files = await readdir(service.dataDirectory)
    for (const file of ['blobs', 'secrets.db', 'attempts.db', 'master-keys'])
      assert.ok(!files.includes(file), file)
    await service.stop()
    assert.doesNotMatch(service.output(), /hush-secret|canary-value/)
    assert.match(service.output(), /loaded: .*@aws-sdk\/client-s3/)
  })

  it('refuses writes of payloads while the bucket is away, and says why', async () => {
    service = await startRunningService({ TALLYTREE_OBJECTS_URL: double.url, ...CREDENTIALS, ...KEYS })
    double.have({ kind: 'error', status: 403, code: 'ExpiredToken' })

    const refused = await service.calls.start({ inputs: { text: 'x'.repeat(300_000) } })

    assert.equal(refused.status, 503)
    assert.match(refused.text, /the credentials have expired/)
    assert.doesNotMatch(refused.text, /127\.0\.0\.1/)
    const health = (await service.send('GET', '/health')).json<Record<string, string>>()
    assert.equal(health['status'], 'degraded')
    assert.match(health['writes'] ?? '', /the credentials have expired \(ExpiredToken\)/)
  })

  it('does not load the client without a bucket', async () => {
    service = await startRunningService(LOADED)
    await service.stop()

    assert.match(service.output(), /loaded: \.$/m)
  })
})
