import { bucketLogOf, type BucketLog } from '../adapters/log-tree/bucket-log-tree.js'
import {
  changeHead,
  HEAD,
  keysIn,
  keysTextIn,
  newHead,
  readHead,
  sealedKeys,
} from '../adapters/log-tree/head-object.js'
import { headText } from '../adapters/log-tree/tree-head.js'
import { readLogKeys, rotatedLogKeys } from '../adapters/secrets/log-keys.js'
import type { Config } from '../config.js'
import type { Bucket } from '../kernel/ports/bucket.js'
import type { LogKeys } from '../kernel/ports/log-keys.js'
import type { BucketAddress } from '../kernel/ports/objects-url.js'
import { openBucket } from './objects.js'
import { hostOf, logKeysFile } from './sealing.js'
import { keyRingOf } from './secrets.js'

/** What commands need to use the tree in the bucket of the configuration. */
export type BucketLogConfig = Pick<Config, 'dataDirectory' | 'masterKeys' | 'masterKeysFile' | 'objects'>

const inBucket = async <A>(objects: BucketAddress, work: (bucket: Bucket) => Promise<A>): Promise<A> => {
  const bucket = await openBucket(objects)
  try {
    return await work(bucket)
  } finally {
    bucket.close()
  }
}

/** Reads the tree in the bucket of the configuration; undefined without a bucket or a tree. */
export const withBucketLog = async <A>(
  config: BucketLogConfig,
  work: (log: BucketLog) => Promise<A>,
): Promise<A | undefined> =>
  config.objects === null
    ? undefined
    : inBucket(config.objects, async (bucket) => {
        const head = await readHead(bucket)
        return head && work(bucketLogOf(bucket, keyRingOf(config), head))
      })

/** The keys of the log in the bucket of the configuration, or in the data directory without one. Undefined if there are none. */
export const currentLogKeys = async (config: BucketLogConfig): Promise<LogKeys | undefined> =>
  config.objects === null
    ? readLogKeys(logKeysFile(config.dataDirectory))
    : withBucketLog(config, async ({ keys }) => keys)

/** Adds a new key. Undefined without a tree. */
export const rotateBucketLogKeys = (
  config: BucketLogConfig,
  objects: BucketAddress,
  now: Date,
): Promise<{ readonly end: Date; readonly keys: LogKeys } | undefined> =>
  inBucket(objects, async (bucket) => {
    const ring = keyRingOf(config)
    let end = now
    const head = await changeHead(bucket, (before) => {
      const rotated = rotatedLogKeys(keysTextIn(ring, before), HEAD, now)
      end = rotated.end
      return { ...before, keys: sealedKeys(ring, rotated.text) }
    })
    return head && { end, keys: keysIn(ring, head) }
  })

/** Begins a log that names the last checkpoint of the former one, whose head is kept. Returns its key and that checkpoint. */
export const beginBucketLog = (
  config: BucketLogConfig & Pick<Config, 'publicUrl'>,
  objects: BucketAddress,
): Promise<{ readonly kept: string | undefined; readonly last: string | undefined }> =>
  inBucket(objects, async (bucket) => {
    const former = await readHead(bucket)
    const last = former?.checkpoints.at(-1)?.note ?? former?.previous
    const next = newHead(keyRingOf(config), hostOf(config), last)
    if (former === undefined) {
      await bucket.create(HEAD, headText(next))
      return { kept: undefined, last }
    }
    const kept = `log/${former.id}/head`
    await bucket.create(kept, headText(former))
    await changeHead(bucket, () => next)
    return { kept, last }
  })
