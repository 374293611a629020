import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import PQueue from 'p-queue'
import { BLOBS, openBucketBlobStore } from '../adapters/blobs/bucket-blob-store.js'
import { openFileBlobStore } from '../adapters/blobs/file-blob-store.js'
import { openBucketSecretStore } from '../adapters/secrets/bucket-secret-store.js'
import type { KeyRing } from '../adapters/secrets/key-ring.js'
import { openSqliteSecretStore } from '../adapters/secrets/sqlite-secret-store.js'
import { namesOf } from '../application/secrets/reconcile.js'
import { blobsDirectory, openBucket } from '../composition/objects.js'
import { keyRingOf, secretsFile } from '../composition/secrets.js'
import type { Config } from '../config.js'
import { BlobDamaged, type BlobStore } from '../kernel/ports/blobs.js'
import { bucketAddress, type BucketAddress } from '../kernel/ports/objects-url.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { SecretUnreadable, type SecretStore } from '../kernel/ports/secret-store.js'
import { progressOn } from './progress.js'

/** What a data directory or a bucket holds besides the log and the read models. */
interface Content {
  readonly blobs: BlobStore
  /** In no order. */
  readonly digests: () => AsyncIterable<string>
  /** Undefined for a directory without secrets. */
  readonly secrets: SecretStore | undefined
}

const AT_ONCE = 8

/**
 * `tallytree objects copy`: copies payloads and secrets of a data directory into a bucket, or back. What the target has is
 * not copied again. Returns the exit code.
 */
export const copyObjects = async (
  { from, to }: { readonly from: string; readonly to: string },
  config: Config,
): Promise<number> => {
  const directory = [from, to].find((named) => !isBucket(named)) ?? config.dataDirectory
  const ring = keyRingOf({ ...config, dataDirectory: directory, objects: null })
  if (!isBucket(from) && !existsSync(from)) throw new OperatorError(`${from} does not exist`)
  const source = await opened(from, ring, false)
  const target = await opened(to, ring, source.secrets !== undefined)
  const blobs = await copyBlobs(source, target)
  const secrets = await copySecrets(source.secrets, target.secrets)
  await source.secrets?.close()
  await target.secrets?.close()
  process.stdout.write(
    `copied ${blobs.copied} payloads and ${secrets.copied} secrets to ${to}; ${blobs.kept + secrets.kept} were there\n`,
  )
  for (const failure of [...blobs.failed, ...secrets.failed]) process.stderr.write(`${failure}\n`)
  return blobs.failed.length + secrets.failed.length === 0 ? 0 : 1
}

const isBucket = (named: string) => named.startsWith('s3:')

/** @throws OperatorError for what is not the URL of a bucket */
export const addressOf = (url: string | undefined): BucketAddress | null => {
  if (url === undefined) return null
  const address = bucketAddress(url)
  if (E.isLeft(address)) throw new OperatorError(`the URL of the bucket ${address.left}`)
  return address.right
}

const opened = async (named: string, ring: KeyRing, makesSecrets: boolean): Promise<Content> => {
  if (isBucket(named)) {
    const bucket = await openBucket(addressOf(named)!)
    return {
      blobs: openBucketBlobStore(bucket),
      digests: async function* () {
        for await (const { key } of bucket.list(BLOBS)) yield key.slice(BLOBS.length)
      },
      secrets: openBucketSecretStore(bucket, ring),
    }
  }
  const file = secretsFile(named)
  return {
    blobs: openFileBlobStore(blobsDirectory(named)),
    digests: () => digestsIn(blobsDirectory(named)),
    secrets: makesSecrets || existsSync(file) ? await openSqliteSecretStore(file, ring) : undefined,
  }
}

async function* digestsIn(directory: string): AsyncGenerator<string> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isFile()) yield entry.name
    else if (entry.name !== 'incoming') yield* digestsIn(join(directory, entry.name))
  }
}

interface Copied {
  readonly copied: number
  readonly kept: number
  readonly failed: readonly string[]
}

const copyBlobs = async (source: Content, target: Content): Promise<Copied> => {
  const queue = new PQueue({ concurrency: AT_ONCE })
  const progress = progressOn(process.stderr, 'copying', undefined, 'payloads')
  const failed: string[] = []
  const unexpected: unknown[] = []
  let [copied, kept] = [0, 0]
  const copy = async (digest: string) => {
    const blob = await source.blobs.open(digest)
    if (blob === undefined) return
    const there = await target.blobs.open(digest).catch(undefinedWhenDamaged)
    if (there?.size === blob.size) return void (kept += 1)
    // The source compares the content with its digest before its end.
    await target.blobs.putStream(blob.chunks, Number.MAX_SAFE_INTEGER, undefined, digest)
    copied += 1
    progress.note(copied + kept, 0)
  }
  const copyOrNote = async (digest: string) => {
    try {
      await copy(digest)
    } catch (error) {
      if (error instanceof BlobDamaged) failed.push(error.message)
      else unexpected.push(error)
    }
  }
  for await (const digest of source.digests()) {
    if (unexpected.length > 0) break
    await queue.onSizeLessThan(AT_ONCE)
    void queue.add(() => copyOrNote(digest))
  }
  await queue.onIdle()
  progress.end()
  if (unexpected.length > 0) throw unexpected[0]
  return { copied, kept, failed }
}

const undefinedWhenDamaged = (error: unknown): undefined => {
  if (!(error instanceof BlobDamaged)) throw error
}

const copySecrets = async (
  source: SecretStore | undefined,
  target: SecretStore | undefined,
): Promise<Copied> => {
  let [copied, kept] = [0, 0]
  const failed: string[] = []
  if (source === undefined || target === undefined) return { copied, kept, failed }
  for (const team of await source.teams())
    for await (const { name } of namesOf(source, team))
      for (const secret of await source.versions({ team, name }))
        try {
          const value = await source.get(secret)
          if (value === undefined) continue
          if (await target.put(secret, value)) copied += 1
          else kept += 1
          if (secret.confirmed) await target.confirm(secret)
        } catch (error) {
          if (!(error instanceof SecretUnreadable)) throw error
          failed.push(error.message)
        }
  return { copied, kept, failed }
}
