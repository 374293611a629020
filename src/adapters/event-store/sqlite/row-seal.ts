import { crc32 } from 'node:zlib'
import { SEAL_BYTES } from '../../../kernel/event-seal.js'
import { isSealOf, writeSeal, type EventTexts } from '../seal.js'

/** What a row has besides its texts. */
export interface RowPlace {
  readonly position: number
  readonly stream: string
  readonly revision: number
  readonly id: string
  readonly type: string
  /** Milliseconds since 1970. */
  readonly recordedAt: number
}

const CHECK_BYTES = 4
const SEAL_DIGITS = 2 * SEAL_BYTES
const ALL_DIGITS = SEAL_DIGITS + 2 * CHECK_BYTES

/** Larger texts are rare and get a buffer of their own. */
const scratch = Buffer.allocUnsafe(262_144)

/** The CRC-32 of the whole row. `seal` is in hexadecimal. */
const checkOf = (seal: string, place: RowPlace, { data, metadata }: EventTexts): number => {
  const { position, stream, revision, id, type, recordedAt } = place
  const columns = `${seal} ${position} ${revision} ${recordedAt} ${id} ${type} ${stream}`
  const most = 3 * (data.length + metadata.length + columns.length)
  const bytes = most <= scratch.length ? scratch : Buffer.allocUnsafe(most)
  let end = bytes.write(data)
  end += bytes.write(metadata, end)
  end += bytes.write(columns, end)
  return crc32(bytes.subarray(0, end))
}

/** The seal of the texts, and a CRC-32 that is cheap enough to be checked at each read. */
export const rowSeal = (place: RowPlace, texts: EventTexts, original?: Uint8Array): Buffer => {
  const seal = Buffer.allocUnsafe(SEAL_BYTES + CHECK_BYTES)
  writeSeal(seal, texts, original)
  const digits = seal.toString('hex', 0, SEAL_BYTES).toUpperCase()
  seal.writeUInt32BE(checkOf(digits, place, texts), SEAL_BYTES)
  return seal
}

/** Reading text is cheaper than reading bytes. It is empty for a row that has no seal yet. */
export const SEAL_TEXT = 'hex(seal)'

/** Why a row is not as it was written; undefined if it is, or has no seal yet. */
export const rowDamage = (seal: string, place: RowPlace, texts: EventTexts): string | undefined => {
  if (seal === '') return undefined
  const digits = seal.slice(0, SEAL_DIGITS)
  const isWhole =
    seal.length === ALL_DIGITS && parseInt(seal.slice(SEAL_DIGITS), 16) === checkOf(digits, place, texts)
  return isWhole ? undefined : 'it is not as it was written'
}

/** The same with the digest too, which is not worth its cost at each read. */
export const rowOrDigestDamage = (seal: string, place: RowPlace, texts: EventTexts): string | undefined =>
  seal === '' || isSealOf(Buffer.from(seal, 'hex'), texts)
    ? rowDamage(seal, place, texts)
    : 'it is not as it was written'
