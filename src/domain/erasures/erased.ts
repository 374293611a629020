import type { ErasureRules } from '../erased-content.js'

export const erasureErasures: ErasureRules = { ErasureRequested: () => ({ query: null }) }
