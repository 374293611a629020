import type { AnyRoute } from '../server/route.js'
import type { Audit } from './audit.js'
import { blobsRoute } from './blobs.js'
import { digestsRoute } from './digests.js'
import { eventsRoute } from './events.js'

export const auditRoutes = (audit: Audit): readonly AnyRoute[] => [
  eventsRoute(audit),
  blobsRoute(audit),
  digestsRoute(audit),
]
