import type { AnyRoute } from '../route.js'
import { completionRoutes } from './completions.js'
import type { Inference, UpstreamManaging } from './inference.js'
import { modelRoutes } from './models.js'
import { upstreamRoutes } from './upstreams.js'

export const inferenceRoutes = (parts: Inference & UpstreamManaging): readonly AnyRoute[] => [
  ...completionRoutes(parts),
  ...modelRoutes(parts),
  ...upstreamRoutes(parts),
]
