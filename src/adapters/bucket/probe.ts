import { randomUUID } from 'node:crypto'
import { BucketUnavailable, type Bucket } from '../../kernel/ports/bucket.js'

/**
 * Does once what the service will do with the bucket, so that a start names what does not work.
 *
 * @throws BucketUnavailable
 */
export const probeBucket = async (bucket: Bucket): Promise<void> => {
  const key = `probe/${randomUUID()}`
  const content = Buffer.from(`probe ${key}`)
  await bucket.create(key, content)
  try {
    if (await bucket.create(key, Buffer.from('another content')))
      throw new BucketUnavailable(
        'the store of TALLYTREE_OBJECTS_URL ignores If-None-Match, so that two processes could write the same version ' +
          'of a secret: use a store that has conditional writes',
      )
    const found = await bucket.get(key)
    if (found === undefined || !content.equals(found))
      throw new BucketUnavailable(
        'the store of TALLYTREE_OBJECTS_URL gave back other content than was written',
      )
    if (bucket.direct !== undefined && !(await bucket.comparesMd5(key)))
      throw new BucketUnavailable(
        'the store of TALLYTREE_OBJECTS_URL ignores Content-MD5, so that a client could store other content than it ' +
          'names: leave out public_endpoint',
      )
    for await (const { key: listed } of bucket.list(key)) if (listed !== key) break
    await refusedUpload(bucket)
  } finally {
    await bucket.delete(key)
  }
}

/** Starts an upload in parts and aborts it. */
const refusedUpload = async (bucket: Bucket): Promise<void> => {
  const refusal = new Error('nothing is uploaded')
  const refusing = async function* (): AsyncGenerator<Uint8Array> {
    throw refusal
  }
  await bucket.upload(`probe/${randomUUID()}`, refusing()).catch((error: unknown) => {
    if (error !== refusal) throw error
  })
}
