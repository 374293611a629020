import * as E from 'fp-ts/lib/Either.js'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decode } from '../kernel/codec/codec.js'
import { arrayOf, nullable } from '../kernel/codec/containers.js'
import { int64, string, wholeNumber } from '../kernel/codec/leaves.js'
import { open } from '../kernel/codec/struct.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import type { ModelDigest } from '../projections/audit/queries.js'
import { writeFileAtomic } from '../kernel/atomic-file.js'

const models = arrayOf(open('ModelDigest', { required: { model: string, rows: int64, digest: string } }))

const digestsResponse = open('Digests', { required: { position: string, digests: models } })

const recordedDigests = open('RecordedDigests', {
  required: { position: wholeNumber, events: int64, log: string },
  optional: { models: nullable(models) },
})

/** What `tallytree replay` records of a log, for `tallytree verify`. */
export interface RecordedDigests {
  /** Of its last event. */
  readonly position: number
  readonly events: number
  /** The SHA-256 of the whole log. */
  readonly log: string
  /** The digests of the service's read models at that position; null if the copy was not made from a service. */
  readonly models: readonly ModelDigest[] | null
}

const pathIn = (directory: string): string => join(directory, 'digests.json')

export const writeDigests = (directory: string, digests: RecordedDigests): Promise<void> =>
  writeFileAtomic(pathIn(directory), `${JSON.stringify(digests, null, 2)}\n`)

/** Undefined if the directory has none. */
export const readDigests = async (directory: string): Promise<RecordedDigests | undefined> => {
  const text = await readFile(pathIn(directory), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const decoded = decode(recordedDigests)(parsed(text))
  if (E.isRight(decoded)) return decoded.right
  throw new OperatorError(`${pathIn(directory)} is not a digests file written by tallytree replay`)
}

/** @throws OperatorError when the response is something else */
export const digestsIn = (response: unknown): readonly ModelDigest[] => {
  const decoded = decode(digestsResponse)(response)
  if (E.isRight(decoded)) return decoded.right.digests
  throw new OperatorError('the service did not respond with digests')
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
