/** HMAC-SHA256 in lower-case hexadecimal or padded base64. */
export type HmacSha256 = (key: Uint8Array, content: Uint8Array, form: 'hex' | 'base64') => string
