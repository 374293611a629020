import type { ErasureRules } from '../../kernel/erased-content.js'

export const projectErasures: ErasureRules = { ProjectDescribed: () => ({ description: null, repo: null }) }
