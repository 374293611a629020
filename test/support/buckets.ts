import * as E from 'fp-ts/lib/Either.js'
import { probeBucket } from '../../src/adapters/bucket/probe.js'
import { openS3Bucket } from '../../src/adapters/bucket/s3-bucket.js'
import { bucketAddress, type BucketAddress } from '../../src/kernel/ports/objects-url.js'
import type { Bucket } from '../../src/kernel/ports/bucket.js'

// The client's own chain of credentials.
process.env['AWS_ACCESS_KEY_ID'] ??= 'key'
process.env['AWS_SECRET_ACCESS_KEY'] ??= 'secret'

export const addressOf = (url: string): BucketAddress => {
  const address = bucketAddress(url)
  if (E.isLeft(address)) throw new Error(address.left)
  return address.right
}

/** As at a start of the service. */
export const openedBucket = async (url: string): Promise<Bucket> => {
  const bucket = openS3Bucket(addressOf(url))
  await probeBucket(bucket)
  return bucket
}
