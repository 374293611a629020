import type { AnyRoute } from '../route.js'
import type { ProjectReads } from '../route-kinds.js'
import { createRoutes, type FeedbackWrites } from './create.js'
import { purgeRoute } from './purge.js'
import { readRoute } from './read.js'
import { replaceRoute } from './replace.js'

export const feedbackRoutes = (parts: FeedbackWrites & ProjectReads): readonly AnyRoute[] => [
  ...createRoutes(parts),
  readRoute(parts),
  purgeRoute(parts),
  replaceRoute(parts),
]
