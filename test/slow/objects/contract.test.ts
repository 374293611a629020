import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
} from '@aws-sdk/client-s3'
import { openBucketAttemptRecords } from '../../../src/adapters/attempt-records/bucket-attempt-records.js'
import { openBucketBlobStore } from '../../../src/adapters/blobs/bucket-blob-store.js'
import { openBucketLog } from '../../../src/adapters/log-tree/bucket-log-tree.js'
import { openBucketSecretStore } from '../../../src/adapters/secrets/bucket-secret-store.js'
import { attemptRecordsContract } from '../../contract/attempt-records/attempt-records-contract.js'
import { blobStoreContract, inChunks } from '../../contract/blobs/blob-store-contract.js'
import { directBlobsContract } from '../../contract/blobs/direct-blobs-contract.js'
import { logTreeContract } from '../../contract/log-tree/log-tree-contract.js'
import { secretStoreContract } from '../../contract/secrets/secret-store-contract.js'
import { openedBucket } from '../../support/buckets.js'
import { describeWithS3Server, startS3Server, type S3Server } from '../../support/s3-server.js'
import { ringOf, someKey } from '../../unit/adapters/secrets/given.js'

describeWithS3Server('a bucket of SeaweedFS', () => {
  let server: S3Server
  before(async () => {
    server = await startS3Server()
  })
  after(() => server.stop())

  const opened = () => openedBucket(server.bucketUrl())

  blobStoreContract('the blob store', async () => {
    const bucket = await opened()
    return { store: openBucketBlobStore(bucket), dispose: async () => bucket.close() }
  })

  directBlobsContract(async () => {
    const bucket = await openedBucket(`${server.bucketUrl()}&public_endpoint=${server.publicEndpoint}`)
    return { store: openBucketBlobStore(bucket), dispose: async () => bucket.close() }
  })

  secretStoreContract(async () => {
    const bucket = await opened()
    return { ...openBucketSecretStore(bucket, ringOf(someKey('one'))), close: async () => bucket.close() }
  })

  attemptRecordsContract(async () => {
    const bucket = await opened()
    return { records: openBucketAttemptRecords(bucket), dispose: async () => bucket.close() }
  })

  logTreeContract(async () => {
    const bucket = await opened()
    const ring = ringOf(someKey('one'))
    return {
      open: async () => (await openBucketLog(bucket, ring, 'traces.example')).tree,
      dispose: async () => bucket.close(),
    }
  })

  it('has no unfinished upload after a stream that failed', async () => {
    const url = server.bucketUrl()
    const bucket = await openedBucket(url)
    const part = randomBytes(9_000_000)
    const broken = async function* () {
      yield* inChunks(part, 1_000_000)
      yield* inChunks(part, 1_000_000)
      throw new Error('connection lost')
    }

    await assert.rejects(openBucketBlobStore(bucket).putStream(broken(), 1e9), /connection lost/)

    const Bucket = new URL(url).host
    const { Uploads } = await server.client.send(new ListMultipartUploadsCommand({ Bucket }))
    assert.deepEqual(Uploads ?? [], [])
    bucket.close()
  })

  it('keeps no earlier version of what was deleted', async () => {
    const Bucket = await server.createBucket()
    const url = server.bucketUrl(Bucket)
    await server.client.send(
      new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }),
    )
    const bucket = await openedBucket(url)
    const store = openBucketSecretStore(bucket, ringOf(someKey('one')))
    const secret = { team: 'team', name: 'A', version: 1 }
    await store.put(secret, 'value')
    await store.confirm(secret)

    await store.destroy([secret])

    const { Versions, DeleteMarkers } = await server.client.send(new ListObjectVersionsCommand({ Bucket }))
    assert.deepEqual([...(Versions ?? []), ...(DeleteMarkers ?? [])], [])
    bucket.close()
  })

  it('names a wrong key', async () => {
    process.env['AWS_SECRET_ACCESS_KEY'] = 'another'

    await assert.rejects(opened(), { message: /the credentials are wrong \(SignatureDoesNotMatch\)/ })

    process.env['AWS_SECRET_ACCESS_KEY'] = 'secret'
  })
})
