import { callsProjection } from './calls/project.js'
import { feedbackProjection } from './feedback/project.js'
import type { Projection } from './projection.js'
import { usageProjection } from './usage/project.js'

export const projections: readonly Projection[] = [callsProjection, usageProjection, feedbackProjection]
