import type { ErasureRules } from '../erased-content.js'

export const objectErasures: ErasureRules = { ObjectPublished: () => ({ val: null, spilled: {} }) }
