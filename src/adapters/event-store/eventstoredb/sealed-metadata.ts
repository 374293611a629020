import { SEAL_BYTES } from '../../../kernel/event-seal.js'
import { isSealOf, writeSeal, type EventTexts } from '../seal.js'

/** The seal is the last member of the metadata, which is sealed without it. */
const BEFORE = ',"seal":"'
const AFTER = '"}'
const SEAL_LENGTH = BEFORE.length + (SEAL_BYTES / 3) * 4 + AFTER.length

/** The metadata of an event with its seal. A copy keeps the salt of its original. */
export const sealedMetadata = (texts: EventTexts, original: Uint8Array | undefined): string => {
  const seal = Buffer.allocUnsafe(SEAL_BYTES)
  writeSeal(seal, texts, original)
  return `${texts.metadata.slice(0, -1)}${BEFORE}${seal.toString('base64')}${AFTER}`
}

/** The metadata without its seal; earlier releases wrote none. */
export const unsealed = (metadata: string) => {
  const at = metadata.length - SEAL_LENGTH
  if (!metadata.startsWith(BEFORE, at)) return { text: metadata, seal: undefined }
  const text = `${metadata.slice(0, at)}}`
  const bytes = Buffer.from(metadata.slice(at + BEFORE.length, -AFTER.length), 'base64')
  return { text, seal: { bytes, isOf: (data: string) => isSealOf(bytes, { data, metadata: text }) } }
}
