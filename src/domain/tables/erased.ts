import type { ErasureRules } from '../erased-content.js'

export const tableErasures: ErasureRules = {
  TableRowsStored: () => ({ rows: [], spilled: {} }),
  TablePublished: () => ({ row_digests: [], spilled: {} }),
}
