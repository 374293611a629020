import type { ErasureRules } from '../../kernel/erased-content.js'

export const objectErasures: ErasureRules = { ObjectPublished: () => ({ val: null, spilled: {} }) }
