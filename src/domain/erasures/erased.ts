import type { ErasureRules } from '../../kernel/erased-content.js'

export const erasureErasures: ErasureRules = { ErasureRequested: () => ({ query: null }) }
