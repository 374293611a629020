/** A new API key that nobody can guess: `tt_` and 43 base64url characters, which carry 256 random bits. */
export type RandomKey = () => string
