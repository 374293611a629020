/** The lower-case hexadecimal SHA-256 of bytes, or of a string's UTF-8. */
export type Sha256 = (content: string | Uint8Array) => string
