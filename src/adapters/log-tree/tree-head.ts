import * as E from 'fp-ts/lib/Either.js'
import { decode } from '../../kernel/codec/codec.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { string, wholeNumber } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { SignedCheckpoint } from '../../kernel/ports/log-tree.js'
import { OperatorError } from '../../kernel/ports/operator-error.js'

/** The state of the tree in a bucket. The key of each full tile follows from its number, so the head does not have it. */
export interface TreeHead {
  /** The process that wrote it, and its write. */
  readonly writtenBy: string
  /** Names the log in the keys of tiles. */
  readonly id: string
  /** The keys of the log, encrypted with a master key. */
  readonly keys: string
  /** The last checkpoint of the log that this one replaced. */
  readonly previous: string | undefined
  readonly size: number
  readonly position: bigint
  /** The last tile of each level, unless it is full, by its key. */
  readonly partial: ReadonlyMap<string, Buffer>
  /** Full tiles that may not be stored under their keys yet. */
  readonly full: ReadonlyMap<string, Buffer>
  /** The latest ones, by size. */
  readonly checkpoints: readonly SignedCheckpoint[]
}

const FORMAT = 1

const storedCheckpoint = open('StoredCheckpoint', {
  required: { size: wholeNumber, signed_at: wholeNumber, note: string },
})

const storedTile = open('StoredTile', { required: { key: string, hashes: string } })

const storedHead = open('StoredTreeHead', {
  required: {
    format: wholeNumber,
    written_by: string,
    id: string,
    keys: string,
    previous: nullable(string),
    size: wholeNumber,
    position: string,
    partial: arrayOf(storedTile),
    full: arrayOf(storedTile),
    checkpoints: arrayOf(storedCheckpoint),
  },
})

const storedCheckpoints = arrayOf(storedCheckpoint)

const stored = ({ size, signedAt, note }: SignedCheckpoint) => ({ size, signed_at: signedAt.getTime(), note })

const tilesOf = (tiles: ReadonlyMap<string, Buffer>) =>
  Array.from(tiles, ([key, hashes]) => ({ key, hashes: hashes.toString('base64') }))

const tilesIn = (tiles: readonly { readonly key: string; readonly hashes: string }[]) =>
  new Map(tiles.map(({ key, hashes }) => [key, Buffer.from(hashes, 'base64')]))

export const headText = (head: TreeHead): Buffer =>
  Buffer.from(
    JSON.stringify({
      format: FORMAT,
      written_by: head.writtenBy,
      id: head.id,
      keys: head.keys,
      previous: head.previous ?? null,
      size: head.size,
      position: String(head.position),
      partial: tilesOf(head.partial),
      full: tilesOf(head.full),
      checkpoints: head.checkpoints.map(stored),
    }),
  )

export const checkpointsText = (checkpoints: readonly SignedCheckpoint[]): Buffer =>
  Buffer.from(JSON.stringify(checkpoints.map(stored)))

const parsed = (content: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(content).toString())
  } catch {
    return undefined
  }
}

const checkpointsFrom = (
  checkpoints: readonly { readonly size: number; readonly signed_at: number; readonly note: string }[],
): readonly SignedCheckpoint[] =>
  checkpoints.map(({ size, signed_at, note }) => ({ size, signedAt: new Date(signed_at), note }))

/** @throws OperatorError */
export const parseHead = (content: Uint8Array, named: string): TreeHead => {
  const result = decode(storedHead)(parsed(content))
  if (E.isLeft(result) || !/^\d{1,19}$/.test(result.right.position)) throw damaged(named)
  const { format, written_by, position, partial, full, checkpoints, previous, ...rest } = result.right
  if (format !== FORMAT)
    throw new OperatorError(`${named} has format ${format}, this release supports ${FORMAT}`)
  return {
    ...rest,
    writtenBy: written_by,
    previous: previous ?? undefined,
    position: BigInt(position),
    partial: tilesIn(partial),
    full: tilesIn(full),
    checkpoints: checkpointsFrom(checkpoints),
  }
}

/** @throws OperatorError */
export const parseCheckpoints = (content: Uint8Array, named: string): readonly SignedCheckpoint[] => {
  const result = decode(storedCheckpoints)(parsed(content))
  if (E.isLeft(result)) throw damaged(named)
  return checkpointsFrom(result.right)
}

const damaged = (named: string): OperatorError =>
  new OperatorError(`${named} cannot be read; restore it from a backup, see docs/auditing.md`)
