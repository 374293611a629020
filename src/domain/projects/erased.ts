import type { ErasureRules } from '../erased-content.js'

export const projectErasures: ErasureRules = { ProjectDescribed: () => ({ description: null, repo: null }) }
