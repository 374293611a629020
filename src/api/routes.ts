import type { Ports } from '../kernel/ports/ports.js'
import type { Access } from '../application/access/access.js'
import type { KeyPorts } from '../application/access/new-key.js'
import { priceListRoutes } from './prices/price-list.js'
import { rebuildRoutes } from './rebuilds/rebuilds.js'
import { accessRoutes } from './access/routes.js'
import { auditRoutes } from './audit/routes.js'
import type { Automations } from './webhooks/automations.js'
import { automationRoutes } from './webhooks/routes.js'
import { costRoutes } from './prices/routes.js'
import type { Deliveries } from './webhooks/deliveries/deliveries.js'
import { deliveryRoutes } from './webhooks/deliveries/routes.js'
import { evaluationRuleRoutes } from './evaluations/rules.js'
import type { Evaluations } from './evaluations/evaluations.js'
import { evaluationRoutes } from './evaluations/routes.js'
import { feedbackReadRoute } from './feedback/read.js'
import { feedbackWriteRoutes } from './feedback/write.js'
import { contentRoutes } from './files/content.js'
import { uploadRoutes } from './files/upload.js'
import { graphQlRoutes } from './graphql/routes.js'
import { objectRoutes } from './objects/routes.js'
import { projectRoutes } from './projects/settings.js'
import { refRoutes } from './refs/read-batch.js'
import type { Inference } from '../gateway/gateway.js'
import type { UpstreamManaging } from './gateway/managed-upstream.js'
import { inferenceRoutes } from './gateway/routes.js'
import { collectionRoutes } from './artifacts/collections/routes.js'
import type { AnyRoute } from './server/route.js'
import { runRoutes } from './runs/runs.js'
import { secretRoutes } from './secrets/routes.js'
import type { Secrets } from './secrets/secrets.js'
import { openApiRoute } from './openapi/openapi.js'
import { serviceRoutes, type HealthChecks } from './service/health.js'
import { tableReadRoutes } from './tables/read.js'
import { tableWriteRoutes } from './tables/write.js'
import { batchRoutes } from './calls/batches.js'
import { statsRoutes } from './usage/stats/routes.js'
import { usageQueryRoutes } from './usage/query/routes.js'
import { callReadRoutes } from './calls/call-reads.js'
import { renameAndDeleteRoutes } from './calls/rename-and-delete.js'
import { startAndEndRoutes } from './calls/start-and-end.js'
import type { Tracing } from './calls/tracing.js'
import { usageRoutes } from './usage/usage.js'

export interface ApiParts
  extends Tracing, HealthChecks, Pick<Inference, 'inference'>, Omit<UpstreamManaging, 'ports' | 'access'> {
  readonly ports: Ports &
    KeyPorts &
    Secrets['ports'] &
    Automations['ports'] &
    Deliveries['ports'] &
    Evaluations['ports']
  readonly access: Access
  readonly maxTraceCalls: number
  /** The vendor name in references to artifacts, in lower case. */
  readonly vendor: string
}

export const allRoutes = (parts: ApiParts): readonly AnyRoute[] => {
  const routes = servedRoutes(parts)
  return [...routes, openApiRoute(routes)]
}

const servedRoutes = (parts: ApiParts): readonly AnyRoute[] => [
  ...startAndEndRoutes(parts),
  ...batchRoutes(parts),
  ...renameAndDeleteRoutes(parts),
  ...callReadRoutes(parts),
  ...usageRoutes(parts),
  ...statsRoutes(parts),
  ...usageQueryRoutes(parts),
  ...objectRoutes(parts),
  ...tableWriteRoutes(parts),
  ...tableReadRoutes(parts),
  ...refRoutes(parts),
  ...uploadRoutes(parts),
  ...contentRoutes(parts),
  ...feedbackWriteRoutes(parts),
  feedbackReadRoute(parts),
  ...costRoutes(parts),
  ...evaluationRoutes(parts),
  ...evaluationRuleRoutes(parts),
  ...collectionRoutes(parts),
  ...runRoutes(parts),
  ...projectRoutes(parts),
  ...graphQlRoutes(parts),
  ...accessRoutes(parts.ports, parts.access),
  ...secretRoutes(parts),
  ...automationRoutes(parts),
  ...deliveryRoutes(parts),
  ...inferenceRoutes(parts),
  ...rebuildRoutes(parts),
  ...priceListRoutes(parts),
  ...auditRoutes(parts),
  ...serviceRoutes(parts),
]
