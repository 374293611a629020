import type { ErasureRules } from '../../kernel/erased-content.js'

export const tableErasures: ErasureRules = {
  TableRowsStored: () => ({ rows: [], spilled: {} }),
  TablePublished: () => ({ row_digests: [], spilled: {} }),
}
