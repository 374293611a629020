import type { ErasureRules } from '../erased-content.js'

export const fileErasures: ErasureRules = { FileStored: () => ({ blob: '' }) }
