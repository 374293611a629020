import { randomUUID } from 'node:crypto'
import { digestOf } from '../../kernel/content-digest.js'
import { BucketUnavailable, type Bucket } from '../../kernel/ports/bucket.js'
import type { LogKeys } from '../../kernel/ports/log-keys.js'
import { LogTreeChanged } from '../../kernel/ports/log-tree.js'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import { keyIdOf, seal, unseal } from '../secrets/envelope.js'
import type { KeyRing } from '../secrets/key-ring.js'
import { logKeysIn, newLogKeys } from '../secrets/log-keys.js'
import { headText, parseHead, type TreeHead } from './tree-head.js'

export const HEAD = 'log/head'
const NAMED = `${HEAD} in the bucket`

const KEYS_NAME = { team: '', name: 'log-keys', version: 1 }

export const sealedKeys = (ring: KeyRing, text: string): string => seal(ring.active(), KEYS_NAME, text)
export const keysTextIn = (ring: KeyRing, { keys }: TreeHead): string => unseal(ring.find, KEYS_NAME, keys)
export const keysIn = (ring: KeyRing, head: TreeHead): LogKeys => logKeysIn(keysTextIn(ring, head), NAMED)

/** The head of a log with new keys. */
export const newHead = (ring: KeyRing, host: string, previous?: string): TreeHead => ({
  writtenBy: randomUUID(),
  id: randomUUID().slice(0, 8),
  keys: sealedKeys(ring, newLogKeys(host)),
  previous,
  size: 0,
  position: 0n,
  partial: new Map(),
  full: new Map(),
  checkpoints: [],
})

/** Undefined if the bucket has no tree. */
export const readHead = async (bucket: Pick<Bucket, 'get'>): Promise<TreeHead | undefined> => {
  const content = await bucket.get(HEAD)
  return content === undefined ? undefined : parseHead(content, NAMED)
}

const TRIES = 5

/** Changes the head, also while services use it. Undefined if the bucket has no tree. */
export const changeHead = async (
  bucket: Bucket,
  change: (head: TreeHead) => TreeHead,
): Promise<TreeHead | undefined> => {
  const writtenBy = randomUUID()
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await bucket.get(HEAD)
    if (before === undefined) return undefined
    const next = headText({ ...change(parseHead(before, NAMED)), writtenBy })
    await bucket.replace(HEAD, (content) => (Buffer.from(before).equals(content) ? next : undefined))
    const head = await readHead(bucket)
    if (head === undefined || head.writtenBy === writtenBy) return head
  }
  throw new OperatorError(`${NAMED} is written by others all the time: try again`)
}

/** Re-encrypts the keys of the log with the active master key. @throws SecretUnreadable */
export const reencryptBucketLogKeys = async (bucket: Bucket, ring: KeyRing): Promise<void> => {
  const head = await readHead(bucket)
  if (head === undefined || keyIdOf(head.keys) === ring.active().id) return
  await changeHead(bucket, (before) => ({ ...before, keys: sealedKeys(ring, keysTextIn(ring, before)) }))
}

/** The head as one process knows it. */
export interface HeadObject {
  readonly current: () => TreeHead
  /** Replaces the head that is known. @throws LogTreeChanged, having read the other one */
  readonly write: (next: TreeHead) => Promise<void>
  /** Whether it was changed by another process. */
  readonly read: () => Promise<boolean>
}

/** Opens the head; the first process makes it. */
export const openHead = async (bucket: Bucket, make: () => TreeHead): Promise<HeadObject> => {
  await requireConditionalReplace(bucket)
  const writer = randomUUID()
  let writes = 0
  // A head that is made again would not know what was signed.
  if ((await bucket.size(HEAD)) === undefined && !(await hasTiles(bucket)))
    await bucket.create(HEAD, headText(make()))
  const get = async (): Promise<Buffer> => {
    const content = await bucket.get(HEAD)
    if (content !== undefined) return Buffer.from(content)
    throw new OperatorError(
      `${NAMED} is missing: restore it from a backup, or run "tallytree log new-origin" to begin a new log; ` +
        'see docs/auditing.md#a-log-that-does-not-match-its-checkpoints',
    )
  }
  let known = await get()
  let head = parseHead(known, NAMED)

  const adopt = (content: Buffer) => {
    const found = parseHead(content, NAMED)
    if (found.id !== head.id)
      throw new OperatorError('a new log was begun by "tallytree log new-origin": restart this process')
    known = content
    head = found
  }

  return {
    current: () => head,
    write: async (next) => {
      writes += 1
      const written = { ...next, writtenBy: `${writer} ${writes}` }
      const content = headText(written)
      if (await bucket.replace(HEAD, (found) => (known.equals(found) ? content : undefined))) {
        known = content
        head = written
        return
      }
      const found = await get()
      adopt(found)
      // A repeat of the client meets what its first attempt wrote.
      if (!content.equals(found)) throw new LogTreeChanged()
    },
    read: async () => {
      const found = await get()
      if (known.equals(found)) return false
      adopt(found)
      return !head.writtenBy.startsWith(writer)
    },
  }
}

const hasTiles = async (bucket: Bucket): Promise<boolean> => {
  for await (const { key } of bucket.list('log/')) return key !== HEAD
  return false
}

/** @throws BucketUnavailable of a store with which two processes could sign different trees */
const requireConditionalReplace = async (bucket: Bucket): Promise<void> => {
  const key = `probe/${randomUUID()}`
  const [before, between, after] = ['before', 'between', 'after'].map((text) => Buffer.from(text))
  await bucket.create(key, before!)
  try {
    const isReplaced = await bucket.replace(key, async () => {
      await bucket.put(key, between!, await digestOf(between!))
      return after
    })
    if (isReplaced)
      throw new BucketUnavailable(
        'the store of TALLYTREE_OBJECTS_URL ignores If-Match, so that two processes could sign different logs: the log is not sealed',
      )
  } finally {
    await bucket.delete(key)
  }
}
