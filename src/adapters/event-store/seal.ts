import { hash, randomFillSync } from 'node:crypto'
import { isErased, SALT_BYTES, SEAL_BYTES } from '../../kernel/event-seal.js'

/** Data and metadata of an event, as JSON. */
export interface EventTexts {
  readonly data: string
  readonly metadata: string
}

/** Larger texts are rare and get a buffer of their own. */
const scratch = Buffer.allocUnsafe(262_144)

/** A random salt for each of many events costs one call. */
const salts = { bytes: Buffer.alloc(SALT_BYTES * 256), used: SALT_BYTES * 256 }

/** SHA-256(salt ‖ data ‖ 0x0A ‖ metadata) in latin1, which is the fastest form to compare. */
const digestOf = (salt: Buffer, { data, metadata }: EventTexts): string => {
  const most = SALT_BYTES + 1 + 3 * (data.length + metadata.length)
  const bytes = most <= scratch.length ? scratch : Buffer.allocUnsafe(most)
  let end = salt.copy(bytes, 0, 0, SALT_BYTES)
  end += bytes.write(data, end)
  bytes[end] = 0x0a
  end += 1
  end += bytes.write(metadata, end)
  return hash('sha256', bytes.subarray(0, end), 'binary')
}

/**
 * Writes the seal of an event to the start of `into`: a random salt, so that a short text cannot be guessed from the digest,
 * and the digest. A copy keeps the salt of its original, so that both have the same digest, or its whole seal if it was
 * erased.
 */
export const writeSeal = (into: Buffer, texts: EventTexts, original?: Uint8Array): void => {
  if (original !== undefined && isErased(original)) {
    into.set(original.subarray(0, SEAL_BYTES))
    return
  }
  if (original !== undefined) into.set(original.subarray(0, SALT_BYTES))
  else {
    if (salts.used === salts.bytes.length) {
      randomFillSync(salts.bytes)
      salts.used = 0
    }
    salts.bytes.copy(into, 0, salts.used, salts.used + SALT_BYTES)
    salts.used += SALT_BYTES
  }
  into.write(digestOf(into, texts), SALT_BYTES, 'latin1')
}

/** Whether the seal matches the texts. That of an erased event matches any. */
export const isSealOf = (seal: Buffer, texts: EventTexts): boolean =>
  isErased(seal) || seal.toString('latin1', SALT_BYTES, SEAL_BYTES) === digestOf(seal, texts)
