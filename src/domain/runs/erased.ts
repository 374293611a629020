import type { ErasureRules } from '../erased-content.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'

/** Null if it did not change. */
const emptyObject = (text: Json | undefined): Json => ((text ?? null) === null ? null : '{}')

const NO_DETAILS = { notes: null, tags: [], host: null, commit: null, program: null, repository: null }

export const runErasures: ErasureRules = {
  RunDescribed: ({ details, config }) => ({
    details: { ...(isJsonObject(details) ? details : {}), ...NO_DETAILS },
    config: emptyObject(config),
    spilled: {},
  }),
  MetricsLogged: () => ({ metrics: {} }),
  HistoryLogged: ({ summary }) => ({ lines: [], summary: emptyObject(summary), spilled: {} }),
  RunOutputLogged: () => ({ lines: [], spilled: {} }),
  RunFileStored: () => ({ path: 'erased', blob: '', md5: '' }),
  RunFileDeleted: () => ({ path: 'erased' }),
}
