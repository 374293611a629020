/** A new API key: `tt_` and 37 letters and digits with 220 random bits. */
export type RandomKey = () => string
