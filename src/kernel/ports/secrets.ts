/** A new API key: `tt_` and 43 base64url characters with 256 random bits. */
export type RandomKey = () => string
