/** Paths relative to this module. `compile.mjs` writes its output at the same depth, so they hold in `dist` too. */

export const DEFAULT_PRICES = new URL('./prices/default.json', import.meta.url)

/** The built web interface, in `dist/web` for sources and output alike. */
export const WEB = new URL(
  import.meta.url.includes('/dist/src/') ? '../web/' : '../dist/web/',
  import.meta.url,
)

/** The entry of a thread, a program of its own in the output. */
const threadEntry = (name: string): URL =>
  new URL(`${name}.${import.meta.url.includes('/dist/src/') ? 'js' : 'ts'}`, import.meta.url)

export const ENGINE_THREAD = threadEntry('./engine/thread')

export const SCORING_THREAD = threadEntry('./composition/scoring-thread')
