import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openBucketBlobStore } from '../adapters/blobs/bucket-blob-store.js'
import { openCachedBlobStore } from '../adapters/blobs/cached-blob-store.js'
import { openFileBlobStore } from '../adapters/blobs/file-blob-store.js'
import { probeBucket } from '../adapters/bucket/probe.js'
import type { Config } from '../config.js'
import type { BlobStore } from '../kernel/ports/blobs.js'
import type { Bucket } from '../kernel/ports/bucket.js'
import type { HealthReports } from '../kernel/ports/health.js'
import type { BucketAddress } from '../kernel/ports/objects-url.js'

/** Opens a bucket and checks that all that the service does with it is possible. The client is only loaded here. */
export const openBucket = async (address: BucketAddress): Promise<Bucket> => {
  const { openS3Bucket } = await import('../adapters/bucket/s3-bucket.js')
  const bucket = openS3Bucket(address)
  await probeBucket(bucket)
  return bucket
}

export const blobsDirectory = (dataDirectory: string) => join(dataDirectory, 'blobs')

/** For commands: payloads of a bucket, or of a data directory without one. */
export const blobsOf = async (objects: BucketAddress | null, directory: string): Promise<BlobStore> =>
  objects === null
    ? openFileBlobStore(blobsDirectory(directory))
    : openBucketBlobStore(await openBucket(objects))

/** The bucket of the configuration holds the payloads of a directory that has none. */
export const objectsOf = (directory: string, { objects }: Pick<Config, 'objects'>): BucketAddress | null =>
  existsSync(blobsDirectory(directory)) ? null : objects

/** Payloads in the bucket, or in the data directory without one. */
export const openBlobs = (
  { dataDirectory, objectsCacheBytes }: Pick<Config, 'dataDirectory' | 'objectsCacheBytes'>,
  bucket: Bucket | undefined,
  health: HealthReports,
): BlobStore => {
  if (bucket === undefined) return openFileBlobStore(blobsDirectory(dataDirectory), health)
  const store = openBucketBlobStore(bucket, health)
  if (objectsCacheBytes === 0) return store
  return openCachedBlobStore(store, join(dataDirectory, 'blob-cache'), objectsCacheBytes, health)
}
