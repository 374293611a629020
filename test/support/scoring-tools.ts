import { compileRe2 } from '../../src/adapters/patterns/re2.js'
import { compileJsonSchema } from '../../src/adapters/scoring/json-schema.js'
import { editDistance, rouge } from '../../src/adapters/scoring/texts.js'
import { withinTime } from '../../src/adapters/scoring/time-limit.js'
import type { ScoringTools } from '../../src/domain/ports/scoring-tools.js'

/** The libraries that the service uses. */
export const scoringTools: ScoringTools = {
  compilePattern: compileRe2,
  compileSchema: compileJsonSchema(compileRe2),
  editDistance,
  rouge,
  withinTime,
}
