import type { AnyRoute } from '../route.js'
import { completionRoutes } from './completions.js'
import type { Inference, UpstreamManaging } from './inference.js'
import { limitRoutes, type Limiting } from './limits/limits.js'
import { modelRoutes } from './models.js'
import { upstreamRoutes } from './upstreams.js'

export const inferenceRoutes = (parts: Inference & UpstreamManaging & Limiting): readonly AnyRoute[] => [
  ...completionRoutes(parts),
  ...modelRoutes(parts),
  ...upstreamRoutes(parts),
  ...limitRoutes(parts),
]
