import type { Services } from '../../application/services.js'
import type { AnyRoute } from '../server/route.js'
import { blobsRoute } from './blobs.js'
import { digestsRoute } from './digests.js'
import { eventsRoute } from './events.js'

export const auditRoutes = (services: Services): readonly AnyRoute[] => [
  eventsRoute(services),
  blobsRoute(services),
  digestsRoute(services),
]
