import type { ErasureRules } from '../../kernel/erased-content.js'

export const intakeErasures: ErasureRules = {
  ElementRefused: () => ({ loc: [], msg: 'erased', raw: null, raw_blob: null }),
}
