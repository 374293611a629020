import * as E from 'fp-ts/lib/Either.js'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type * as t from 'io-ts'
import { openSqliteLogTree } from '../adapters/log-tree/sqlite-log-tree.js'
import { readLogKeys } from '../adapters/secrets/log-keys.js'
import { withBucketLog } from '../composition/bucket-log.js'
import { logKeysFile, logTreeFile } from '../composition/sealing.js'
import type { Config } from '../config.js'
import { writeFileAtomic } from '../kernel/atomic-file.js'
import { decode } from '../kernel/codec/codec.js'
import { arrayOf } from '../kernel/codec/containers.js'
import { int64, string } from '../kernel/codec/leaves.js'
import { open } from '../kernel/codec/struct.js'
import { OperatorError } from '../kernel/ports/operator-error.js'

/** What `tallytree replay` copies of the signed checkpoints of a service, for `tallytree verify`. */
const checkpointsFile = open('CopiedCheckpoints', {
  required: {
    verifier_keys: arrayOf(string),
    data: arrayOf(open('CopiedCheckpoint', { required: { size: int64, note: string } })),
  },
})

type Checkpoints = t.TypeOf<typeof checkpointsFile>

const pathIn = (directory: string): string => join(directory, 'log-checkpoints.json')

/**
 * Those of a stopped service, in the form of `GET /api/log/checkpoints`: of the bucket, if the log is the one of the
 * configuration, or of the data directory.
 */
export const checkpointsIn = async (named: string, config: Config): Promise<unknown> => {
  const { eventStoreUrl, dataDirectory } = config
  const isOwn = named === eventStoreUrl || resolve(named) === dataDirectory
  if (config.objects === null || !isOwn) return checkpointsInDirectory(named)
  return withBucketLog(config, async ({ tree, keys }) => {
    const data = (await tree.checkpoints()).map(({ size, note }) => ({ size, note }))
    return { verifier_keys: keys.all.map(({ text }) => text), data }
  })
}

const checkpointsInDirectory = (dataDirectory: string): unknown => {
  const path = logTreeFile(dataDirectory)
  const keys = readLogKeys(logKeysFile(dataDirectory))
  if (keys === undefined || !existsSync(path)) return undefined
  const tree = openSqliteLogTree(path)
  try {
    const data = tree.checkpoints().map(({ size, note }) => ({ size, note }))
    return { verifier_keys: keys.all.map(({ text }) => text), data }
  } finally {
    tree.close()
  }
}

/** `answer`: what `GET /api/log/checkpoints` answered. Only checkpoints of the copied events are kept. */
export const writeCheckpoints = async (directory: string, answer: unknown, events: number): Promise<void> => {
  const { verifier_keys, data } = decoded(answer, 'the answer of the service')
  const copied = { verifier_keys, data: data.filter(({ size }) => size <= events) }
  await writeFileAtomic(pathIn(directory), `${JSON.stringify(copied, null, 2)}\n`)
}

/** Undefined if the directory has none. */
export const readCheckpoints = async (directory: string): Promise<Checkpoints | undefined> => {
  const text = await readFile(pathIn(directory), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : decoded(parsed(text), pathIn(directory))
}

const decoded = (value: unknown, named: string): Checkpoints => {
  const result = decode(checkpointsFile)(value)
  if (E.isRight(result)) return result.right
  throw new OperatorError(`${named} has no checkpoints of a log`)
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
