import type { Ports } from '../kernel/ports/ports.js'
import type { Access } from '../application/access/access.js'
import type { KeyPorts } from '../application/access/new-key.js'
import { priceListRoutes } from './admin/prices.js'
import { rebuildRoutes } from './admin/rebuilds.js'
import { accessRoutes } from './access/routes.js'
import { auditRoutes } from './audit/routes.js'
import type { Automations } from './automations/automations.js'
import { automationRoutes } from './automations/routes.js'
import { costRoutes } from './costs/routes.js'
import type { Deliveries } from './deliveries/deliveries.js'
import { deliveryRoutes } from './deliveries/routes.js'
import { evaluationRuleRoutes } from './evaluation-rules/rules.js'
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
import type { Inference, UpstreamManaging } from '../gateway/gateway.js'
import { inferenceRoutes } from './inference/routes.js'
import { collectionRoutes } from './registries/routes.js'
import type { AnyRoute } from './route.js'
import { runRoutes } from './runs/runs.js'
import { secretRoutes } from './secrets/routes.js'
import type { Secrets } from './secrets/secrets.js'
import { openApiRoute } from './service/openapi.js'
import { serviceRoutes, type HealthChecks } from './service/health.js'
import { tableReadRoutes } from './tables/read.js'
import { tableWriteRoutes } from './tables/write.js'
import { batchRoutes } from './tracing/batches.js'
import { statsRoutes } from './stats/routes.js'
import { usageQueryRoutes } from './usage-query/routes.js'
import { callReadRoutes } from './tracing/call-reads.js'
import { renameAndDeleteRoutes } from './tracing/rename-and-delete.js'
import { startAndEndRoutes } from './tracing/start-and-end.js'
import type { Tracing } from './tracing/tracing.js'
import { usageRoutes } from './tracing/usage.js'

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
