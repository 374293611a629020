import type { Ports } from '../../kernel/ports/ports.js'
import type { ScoringTools } from '../../kernel/ports/scoring-tools.js'
import type { ProjectWrites } from '../server/route-kinds.js'

/** Dependencies of the evaluation routes. */
export interface Evaluations extends ProjectWrites {
  readonly ports: Ports & { readonly scoringTools: ScoringTools }
}
