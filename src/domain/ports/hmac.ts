/** The HMAC-SHA256 of bytes, in lower-case hexadecimal digits or in base64 with padding. */
export type HmacSha256 = (key: Uint8Array, content: Uint8Array, form: 'hex' | 'base64') => string
