import type { AnyRoute } from '../route.js'
import { createRoutes, type FeedbackWrites } from './create.js'
import { purgeRoute } from './purge.js'
import { readRoute, type FeedbackReads } from './read.js'
import { replaceRoute } from './replace.js'

export const feedbackRoutes = (parts: FeedbackWrites & FeedbackReads): readonly AnyRoute[] => [
  ...createRoutes(parts),
  readRoute(parts),
  purgeRoute(parts),
  replaceRoute(parts),
]
