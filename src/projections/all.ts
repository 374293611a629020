import { annotationQueuesProjection } from './annotation-queues/project.js'
import { callsProjection } from './calls/project.js'
import { withoutFiguresProjection } from './erasures/without-figures.js'
import { deliveriesProjection } from './webhooks/project.js'
import { feedbackProjection } from './feedback/project.js'
import { filesProjection } from './files/project.js'
import { objectsProjection } from './objects/project.js'
import { pricesProjection } from './prices/project.js'
import { rebuildsProjection } from './rebuilds/project.js'
import { artifactsProjection } from './artifacts/project.js'
import { runsProjection } from './runs/project.js'
import { projectsProjection } from './projects/project.js'
import type { Projection } from './projection.js'
import { tablesProjection } from './tables/project.js'
import { usageProjection } from './usage/project.js'

export const projections: readonly Projection[] = [
  callsProjection,
  usageProjection,
  objectsProjection,
  tablesProjection,
  feedbackProjection,
  annotationQueuesProjection,
  filesProjection,
  pricesProjection,
  rebuildsProjection,
  deliveriesProjection,
  runsProjection,
  artifactsProjection,
  projectsProjection,
  withoutFiguresProjection,
]
