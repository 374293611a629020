/** SHA-256 in lower-case hexadecimal, of bytes or of a string's UTF-8. */
export type Sha256 = (content: string | Uint8Array) => string
