/** Files that the program reads. They are found from here, and what `compile.mjs` makes lies as deep as this. */

export const SCHEMA = new URL('./projections/schema/', import.meta.url)

export const DEFAULT_PRICES = new URL('./prices/default.json', import.meta.url)
