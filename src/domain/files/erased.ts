import type { ErasureRules } from '../../kernel/erased-content.js'

export const fileErasures: ErasureRules = { FileStored: () => ({ blob: '' }) }
