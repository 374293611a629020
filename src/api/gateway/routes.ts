import type { AnyRoute } from '../server/route.js'
import { completionRoutes } from './completions.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { limitRoutes } from './limits.js'
import { modelRoutes } from './models.js'
import { changeUpstream, deleteUpstream, showUpstream } from './one-upstream.js'
import { createUpstream, listUpstreams } from './upstreams.js'

export const gatewayRoutes = (services: GatewayServices): readonly AnyRoute[] => [
  ...completionRoutes(services),
  ...modelRoutes(services),
  createUpstream(services),
  listUpstreams(services),
  showUpstream(services),
  changeUpstream(services),
  deleteUpstream(services),
  ...limitRoutes(services),
]
