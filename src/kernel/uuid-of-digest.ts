/** A UUID (version 8, a form of our own) from the beginning of a digest in hexadecimal. */
export const uuidOfDigest = (digest: string): string =>
  `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`
