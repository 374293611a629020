/** Paths relative to this module. `compile.mjs` writes its output at the same depth, so they hold in `dist` too. */

export const SCHEMA = new URL('./projections/schema/', import.meta.url)

export const DEFAULT_PRICES = new URL('./prices/default.json', import.meta.url)

/** The built web interface, in `dist/web` for sources and output alike. */
export const WEB = new URL(
  import.meta.url.includes('/dist/src/') ? '../web/' : '../dist/web/',
  import.meta.url,
)

/** The entry of the threads of the engine, a program of its own in the output. */
export const ENGINE_THREAD = new URL(
  import.meta.url.includes('/dist/src/') ? './engine/thread.js' : './engine/thread.ts',
  import.meta.url,
)
