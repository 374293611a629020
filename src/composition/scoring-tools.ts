import { compileRe2 } from '../adapters/patterns/re2.js'
import { compileJsonSchema } from '../adapters/scoring/json-schema.js'
import { editDistance, rouge } from '../adapters/scoring/texts.js'
import { threadCpuMs, withinTime } from '../adapters/scoring/time-limit.js'
import type { ScoringTools } from '../kernel/ports/scoring-tools.js'

/** The libraries of the built-in scorers. */
export const scoringTools: ScoringTools = {
  compilePattern: compileRe2,
  compileSchema: compileJsonSchema(compileRe2),
  editDistance,
  rouge,
  cpuMs: threadCpuMs,
  withinTime,
}
