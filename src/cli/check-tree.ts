import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { WrittenEvent } from '../adapters/event-store/sqlite/log-copy.js'
import { openSqliteLogTree, type SqliteLogTree } from '../adapters/log-tree/sqlite-log-tree.js'
import { readLogKeys } from '../adapters/secrets/log-keys.js'
import { logKeysFile, logTreeFile } from '../composition/sealing.js'
import { DIGEST_BYTES, SALT_BYTES } from '../kernel/event-seal.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { entryHash } from '../kernel/tlog/entries.js'
import { growingTree, HASH_BYTES, TILE_HASHES, widthOf, type Tile } from '../kernel/tlog/merkle.js'
import {
  InvalidNote,
  openNote,
  parseCheckpoint,
  parseVerifierKey,
  type VerifierKey,
} from '../kernel/tlog/note.js'
import type { CopiedLog } from './copy-tree.js'
import { checkErasures } from './check-erasures.js'
import { readCheckpoints } from './checkpoints-file.js'

/** What the events of a copy must match. */
export interface TreeSources {
  /** Also holds the tree, if it is that of a service, or the checkpoints that `replay` copied. */
  readonly directory: string
  /** A file with a checkpoint that was noted earlier. */
  readonly checkpoint: string | undefined
  /** As "tallytree log key" prints them; those of the directory, if there are none. */
  readonly verifiers: readonly string[]
  /** The tree of the log in a bucket, if it is there. */
  readonly bucketLog?: CopiedLog | undefined
}

export interface TreeCheck {
  /** To be called with every event, in log order. */
  readonly add: (event: WrittenEvent) => void
  readonly end: () => { readonly errors: readonly string[]; readonly summary: string }
}

interface Expected {
  readonly size: number
  readonly root: Buffer
  readonly named: string
}

interface Noted {
  readonly note: string
  readonly of: string
  readonly size?: number
  readonly signedAt?: Date
}

/** Builds the tree of the events, and compares it with the checkpoints and with the tree of the directory. */
export const checkTree = async (sources: TreeSources): Promise<TreeCheck> => {
  const { directory } = sources
  const path = logTreeFile(directory)
  const stored = sources.bucketLog?.tree ?? (existsSync(path) ? openSqliteLogTree(path) : undefined)
  const { expected, errors } = await expectedRoots(sources, stored)
  const tree = growingTree(0, () => new Uint8Array())
  let next = 0
  let positions: number[] = []
  let unsealed = 0
  const erasures = checkErasures()
  let isDifferent = false

  const compareRoot = () => {
    for (; expected[next]?.size === tree.size(); next += 1) {
      const { root, named } = expected[next]!
      if (root.equals(tree.root()) || isDifferent) continue
      isDifferent = true
      const before = expected[next - 1]
      const last = before === undefined ? '' : `; it matches ${before.named}`
      errors.push(`the first ${tree.size()} events are not those of ${named}${last}`)
    }
  }

  /** The last tile of each level, until it is full. */
  const partial = new Map<number, Tile>()
  const compareTiles = () => {
    if (stored === undefined) return void tree.changed()
    for (const tile of tree.changed()) {
      if (tile.level === 0) errors.push(...leafErrors(tile, stored, positions))
      else if (tile.hashes.length === TILE_HASHES * HASH_BYTES) errors.push(...tileErrors(tile, stored))
      if (tile.hashes.length === TILE_HASHES * HASH_BYTES) partial.delete(tile.level)
      else if (tile.level > 0) partial.set(tile.level, tile)
    }
    positions = []
  }

  return {
    add: (event) => {
      if (event.seal === '') unsealed += 1
      erasures.add(event)
      if (unsealed > 0) return
      positions.push(event.position)
      tree.add(entryHash({ ...event, revision: BigInt(event.revision), digest: digestIn(event.seal) }))
      compareRoot()
      if (tree.size() % TILE_HASHES === 0) compareTiles()
    },
    end: () => {
      compareTiles()
      if (stored !== undefined) for (const tile of partial.values()) errors.push(...tileErrors(tile, stored))
      stored?.close()
      const { erased, errors: unnamed } = erasures.end()
      errors.push(...unnamed)
      const size = tree.size()
      const beyond = expected.slice(next)
      if (unsealed > 0)
        errors.push(
          `${unsealed} events have no seal: they are damaged, or the service has not sealed them yet`,
        )
      else if (beyond.length > 0)
        errors.push(`the log has ${size} events, but there is ${beyond.at(-1)!.named}: its end is missing`)
      const summary =
        `tree of ${size} events: root ${tree.root().toString('base64')}, ${next} checkpoints compared` +
        (erased === 0 ? '' : `, ${erased} events erased`)
      return { errors, summary }
    },
  }
}

const SALT_DIGITS = 2 * SALT_BYTES
const DIGEST_DIGITS = 2 * DIGEST_BYTES

const digestIn = (seal: string): Buffer =>
  Buffer.from(seal.slice(SALT_DIGITS, SALT_DIGITS + DIGEST_DIGITS), 'hex')

/** How many hashes of a tile the stored tree has, and these hashes. Undefined for none, and an error if they are missing. */
const storedHashes = ({ level, index, hashes }: Tile, stored: SqliteLogTree) => {
  const width = Math.min(hashes.length / HASH_BYTES, widthOf(level, index, stored.size()))
  if (width <= 0) return undefined
  try {
    return { width, known: stored.tile(level, index).subarray(0, width * HASH_BYTES) }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return { width, known: undefined }
  }
}

const tileErrors = (tile: Tile, stored: SqliteLogTree): readonly string[] => {
  const found = storedHashes(tile, stored)
  if (found === undefined) return []
  const { width, known } = found
  return known !== undefined && tile.hashes.subarray(0, width * HASH_BYTES).equals(known)
    ? []
    : [`tile ${tile.level}/${tile.index} of the tree does not match the events`]
}

const leafErrors = (tile: Tile, stored: SqliteLogTree, positions: readonly number[]): readonly string[] => {
  const { index, hashes } = tile
  const found = storedHashes(tile, stored)
  if (found === undefined) return []
  const { width, known } = found
  if (known?.length !== width * HASH_BYTES) return [`tile 0/${index} of the tree is incomplete`]
  const first = index * TILE_HASHES
  const errors: string[] = []
  const last = positions[width - 1]
  if (last !== undefined && stored.positionBefore(index + 1) !== BigInt(last))
    errors.push(`tile 0/${index} of the tree has the position of another event`)
  for (let at = 0; at < width; at += 1) {
    const [from, to] = [at * HASH_BYTES, (at + 1) * HASH_BYTES]
    if (!hashes.subarray(from, to).equals(known.subarray(from, to)))
      errors.push(`position ${positions[at] ?? 0}: event ${first + at} is not the one that was sealed`)
  }
  return errors
}

/** The checkpoints, by size, and what is wrong with them. */
const expectedRoots = async (
  { directory, checkpoint, verifiers, bucketLog }: TreeSources,
  stored: SqliteLogTree | undefined,
): Promise<{ readonly expected: readonly Expected[]; readonly errors: string[] }> => {
  const copied = await readCheckpoints(directory)
  const own = (bucketLog?.keys ?? readLogKeys(logKeysFile(directory)))?.all ?? []
  const texts = verifiers.length > 0 ? verifiers : (copied?.verifier_keys ?? [])
  const keys = verifiers.length > 0 ? texts.map(keyIn) : [...own, ...texts.map(keyIn)]
  const notes: readonly Noted[] = [
    ...(stored?.checkpoints().map((signed) => ({ ...signed, of: 'checkpoint' })) ?? []),
    ...(copied?.data.map((one) => ({ ...one, of: 'copied checkpoint' })) ?? []),
    ...(checkpoint === undefined ? [] : [{ note: await readFile(checkpoint, 'utf8'), of: checkpoint }]),
  ]
  const errors: string[] = []
  const latest = stored?.latest()?.size ?? 0
  if (stored !== undefined && stored.size() < latest)
    errors.push(
      `${stored.named} has ${stored.size()} leaves, but there is the checkpoint of ${latest} events: tiles are missing`,
    )
  const expected = notes.flatMap((noted): readonly Expected[] => {
    const { note, of } = noted
    const named = noted.size === undefined ? `the ${of}` : `the ${of} of ${noted.size} events`
    try {
      const { text, signatures } = openNote(note, keys)
      const { size, root } = parseCheckpoint(text)
      const seconds = noted.signedAt && Math.floor(noted.signedAt.getTime() / 1000)
      const isAtTime = signatures.every(({ time }) => time === undefined || time === (seconds ?? time))
      if (size !== (noted.size ?? size) || !isAtTime)
        errors.push(`${named} is noted with the size or the time of another`)
      const lines = note.slice(text.length + 1).split('\n').length - 1
      if (noted.size !== undefined && verifiers.length === 0 && lines > signatures.length)
        errors.push(`${named} has a signature of an unknown key`)
      return [{ size, root, named: `the ${of} of ${size} events` }]
    } catch (error) {
      if (!(error instanceof InvalidNote)) throw error
      errors.push(`${named} is not valid: ${error.message}`)
      return []
    }
  })
  return { expected: expected.filter(({ size }) => size > 0).sort((a, b) => a.size - b.size), errors }
}

const keyIn = (text: string): VerifierKey => {
  try {
    return parseVerifierKey(text)
  } catch (cause) {
    throw new OperatorError(`--verifier: ${(cause as Error).message}`, { cause })
  }
}
