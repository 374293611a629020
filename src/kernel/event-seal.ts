/** The seal of an event begins with a salt and the digest SHA-256(salt ‖ data ‖ 0x0A ‖ metadata). */
export const SALT_BYTES = 16
export const DIGEST_BYTES = 32
export const SEAL_BYTES = SALT_BYTES + DIGEST_BYTES

/** The seal of an event whose data was erased: the digest of the former texts, and zeros for the salt. */
export const erasedSeal = (digest: Uint8Array): Buffer => Buffer.concat([Buffer.alloc(SALT_BYTES), digest])

/** Whether a seal is that of an erased event. A salt alone is not. */
export const isErased = (seal: Uint8Array): boolean =>
  seal.length >= SEAL_BYTES && seal.subarray(0, SALT_BYTES).every((byte) => byte === 0)

/** What a copy needs to keep the digest of the original: its salt, or the whole seal if it was erased. */
export const sealToCopy = (seal: Uint8Array): Uint8Array =>
  seal.subarray(0, isErased(seal) ? SEAL_BYTES : SALT_BYTES)
