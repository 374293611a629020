import type { AnyRoute } from '../server/route.js'
import { completionRoutes } from './completions.js'
import type { Inference } from '../../gateway/gateway.js'
import type { UpstreamManaging } from './managed-upstream.js'
import { limitRoutes, type Limiting } from './limits.js'
import { modelRoutes } from './models.js'
import { changeUpstream, deleteUpstream, showUpstream } from './one-upstream.js'
import { createUpstream, listUpstreams } from './upstreams.js'

export const inferenceRoutes = (parts: Inference & UpstreamManaging & Limiting): readonly AnyRoute[] => [
  ...completionRoutes(parts),
  ...modelRoutes(parts),
  createUpstream(parts),
  listUpstreams(parts),
  showUpstream(parts),
  changeUpstream(parts),
  deleteUpstream(parts),
  ...limitRoutes(parts),
]
