import { hash } from 'node:crypto'
import { TILE_HASHES } from './merkle.js'

/** What the tree of the log has of an event. */
export interface LogEntry {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly type: string
  /** SHA-256(salt ‖ data ‖ 0x0A ‖ metadata). */
  readonly digest: Uint8Array
}

/** Compact, its members in this order. */
const entryText = ({ id, stream, revision, type, digest }: LogEntry): string => {
  const { buffer, byteOffset, length } = digest
  const content = Buffer.from(buffer, byteOffset, length).toString('base64')
  return JSON.stringify({ id, stream, revision: String(revision), type, content })
}

export const entryBytes = (entry: LogEntry): Buffer => Buffer.from(entryText(entry))

/** The leaf hash of an entry. With texts it takes half the time that it takes with bytes. */
export const entryHash = (entry: LogEntry): Buffer =>
  Buffer.from(hash('sha256', `\0${entryText(entry)}`, 'binary'), 'latin1')

/** Each entry after its length in two bytes. */
export const entryBundle = (entries: readonly Uint8Array[]): Buffer =>
  Buffer.concat(
    entries.flatMap((entry) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(entry.length)
      return [length, entry]
    }),
  )

export interface TilePath {
  readonly index: number
  readonly width: number
}

/** `x001/x234/067` or, of a partial tile, `067.p/12`. */
export const parseTilePath = (path: string): TilePath | undefined => {
  const [, numbers, width] = /^((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path) ?? []
  if (numbers === undefined || numbers.length > 22 || Number(width ?? 0) >= TILE_HASHES) return undefined
  const index = Number(numbers.replaceAll(/[x/]/g, ''))
  const isShortest = numbers.length === 3 || !numbers.startsWith('x000')
  return isShortest ? { index, width: Number(width ?? TILE_HASHES) } : undefined
}

/** As {@link parseTilePath} reads it, of a full tile. */
export const tilePath = (index: number): string => {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g)!
  return groups.map((group, at) => (at === groups.length - 1 ? group : `x${group}`)).join('/')
}

/** A proof that an entry is in a log, which needs nothing but the verifier key: https://c2sp.org/tlog-proof. */
export const proofText = (
  entry: Uint8Array,
  index: number,
  path: readonly Buffer[],
  checkpoint: string,
): string =>
  [
    PROOF_VERSION,
    `extra ${Buffer.from(entry).toString('base64')}`,
    `index ${index}`,
    ...path.map((hashed) => hashed.toString('base64')),
    '',
    checkpoint,
  ].join('\n')

const PROOF_VERSION = 'c2sp.org/tlog-proof@v1'

export interface ParsedProof {
  readonly entry: Buffer
  readonly index: number
  readonly path: readonly Buffer[]
  readonly checkpoint: string
}

export const parseProof = (text: string): ParsedProof | undefined => {
  const end = text.indexOf('\n\n')
  const [version, extra = '', index = '', ...path] = text.slice(0, end).split('\n')
  if (end < 0 || version !== PROOF_VERSION || !/^extra \S+$/.test(extra) || !/^index \d{1,16}$/.test(index))
    return undefined
  return {
    entry: Buffer.from(extra.slice('extra '.length), 'base64'),
    index: Number(index.slice('index '.length)),
    path: path.map((hashed) => Buffer.from(hashed, 'base64')),
    checkpoint: text.slice(end + 2),
  }
}
