import assert from 'node:assert/strict'
import { openBucketAttemptRecords } from '../../../src/adapters/attempt-records/bucket-attempt-records.js'
import { openSqliteAttemptRecords } from '../../../src/adapters/attempt-records/sqlite-attempt-records.js'
import { openedBucket } from '../../support/buckets.js'
import { startS3Double, type S3Double } from '../../support/s3-double.js'
import { attemptRecordsContract, NOW, recordOf } from './attempt-records-contract.js'

describe('the records of attempts in SQLite', () => {
  attemptRecordsContract(async () => {
    const records = openSqliteAttemptRecords(':memory:')
    return { records, dispose: async () => records.close() }
  })
})

describe('the records of attempts in a bucket', () => {
  let double: S3Double
  const open = async () => {
    double = await startS3Double()
    const bucket = await openedBucket(double.url)
    return {
      records: openBucketAttemptRecords(bucket),
      dispose: async () => {
        bucket.close()
        await double.stop()
      },
    }
  }
  attemptRecordsContract(open)

  it('are found when the log recorded the end after midnight', async () => {
    const { records, dispose } = await open()
    const midnight = Date.parse('2027-01-15T00:00:00Z')

    await records.put([recordOf('dlv_a', 1, midnight - 1)])

    assert.equal((await records.of('dlv_a', [{ attempt: 1, endedAt: midnight + 1 }])).length, 1)
    await dispose()
  })

  it('are not listed again within an hour when nothing has expired', async () => {
    const { records, dispose } = await open()
    double.requests.splice(0)

    for (const after of [0, 1000, 3_599_000, 3_600_000]) await records.prune(NOW + after, 10)

    assert.equal(double.requests.length, 2)
    await dispose()
  })
})
