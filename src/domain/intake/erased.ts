import type { ErasureRules } from '../erased-content.js'

export const intakeErasures: ErasureRules = {
  ElementRefused: () => ({ loc: [], msg: 'erased', raw: null, raw_blob: null }),
}
