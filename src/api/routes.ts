import type { GatewayServices } from '../gateway/gateway.js'
import { priceListRoutes } from './prices/price-list.js'
import { rebuildRoutes } from './rebuilds/rebuilds.js'
import { annotationItemRoutes } from './annotation-queues/items.js'
import { annotationQueueRoutes } from './annotation-queues/queues.js'
import { accessRoutes } from './access/routes.js'
import { auditRoutes } from './audit/routes.js'
import { automationRoutes } from './webhooks/routes.js'
import { costRoutes } from './prices/routes.js'
import { deliveryRoutes } from './webhooks/deliveries/routes.js'
import { deleteProjectRoute } from './erasures/deletion.js'
import { erasureRoutes } from './erasures/routes.js'
import { evaluationRuleRoutes } from './evaluations/rules.js'
import { evaluationRoutes } from './evaluations/routes.js'
import { feedbackReadRoute } from './feedback/read.js'
import { feedbackWriteRoutes } from './feedback/write.js'
import { fileStreamRoute } from './runs/file-stream.js'
import { artifactContentRoutes } from './wandb/artifact-content.js'
import { linkedContentRoutes } from './files/linked-content.js'
import { contentRoutes } from './files/content.js'
import { uploadRoutes } from './files/upload.js'
import { graphQlRoutes } from './wandb/routes.js'
import { objectRoutes } from './objects/routes.js'
import { comparisonPageRoute } from './pages/comparison.js'
import { pageRoutes } from './pages/routes.js'
import { runPageRoutes } from './pages/runs.js'
import { projectInfoRoute } from './projects/info.js'
import { projectRoutes } from './projects/settings.js'
import { storageRoutes } from './projects/stats.js'
import { refRoutes } from './refs/read-batch.js'
import { gatewayRoutes } from './gateway/routes.js'
import { collectionRoutes } from './artifacts/collections/routes.js'
import type { AnyRoute } from './server/route.js'
import { comparisonsFrom } from '../application/evaluations/compared-runs.js'
import { openRuns } from '../application/runs/runs.js'
import { openHistory } from '../application/runs/history.js'
import { trainingRoutes } from './training/routes.js'
import { lineageRoutes } from './runs/lineage.js'
import { runReadRoutes } from './runs/run-list.js'
import { runRoutes } from './runs/runs.js'
import { secretRoutes } from './secrets/routes.js'
import { openApiRoute } from './openapi/openapi.js'
import { serviceRoutes, type HealthChecks } from './service/health.js'
import { tableReadRoutes } from './tables/read.js'
import { tableWriteRoutes } from './tables/write.js'
import { threadRoutes } from './calls/threads.js'
import { otelRoutes } from './otel/routes.js'
import { batchRoutes } from './calls/batches.js'
import { statsRoutes } from './usage/stats/routes.js'
import { usageQueryRoutes } from './usage/query/routes.js'
import { callReadRoutes } from './calls/call-reads.js'
import { renameAndDeleteRoutes } from './calls/rename-and-delete.js'
import { startAndEndRoutes } from './calls/start-and-end.js'
import { usageRoutes } from './usage/usage.js'

export interface ApiServices extends GatewayServices, HealthChecks {}

export const allRoutes = (services: ApiServices): readonly AnyRoute[] => {
  const routes = servedRoutes(services, openShared(services))
  return [...routes, openApiRoute(routes)]
}

/** Kept folds and comparisons that several areas use. */
const openShared = (services: ApiServices) => {
  const runs = openRuns(services)
  const { collections } = services.training
  return { runs, history: openHistory(runs), collections, comparisons: comparisonsFrom(services) }
}

const servedRoutes = (services: ApiServices, shared: ReturnType<typeof openShared>): readonly AnyRoute[] => [
  ...startAndEndRoutes(services),
  ...batchRoutes(services),
  ...otelRoutes(services),
  ...renameAndDeleteRoutes(services),
  ...callReadRoutes(services),
  ...threadRoutes(services),
  ...usageRoutes(services),
  ...statsRoutes(services),
  ...usageQueryRoutes(services),
  ...objectRoutes(services),
  ...tableWriteRoutes(services),
  ...tableReadRoutes(services),
  ...refRoutes(services),
  ...uploadRoutes(services),
  ...contentRoutes(services),
  ...feedbackWriteRoutes(services),
  feedbackReadRoute(services),
  ...annotationQueueRoutes(services),
  ...annotationItemRoutes(services),
  ...costRoutes(services),
  ...evaluationRoutes(services, shared.comparisons),
  ...evaluationRuleRoutes(services),
  ...collectionRoutes(services, shared.collections),
  ...runRoutes(services, shared.runs, shared.history),
  ...runReadRoutes(services, shared.runs, shared.history),
  ...lineageRoutes(services, shared),
  fileStreamRoute(services, shared.runs),
  ...linkedContentRoutes(services, shared.runs),
  ...artifactContentRoutes(services),
  ...projectRoutes(services),
  deleteProjectRoute(services),
  projectInfoRoute(services),
  ...storageRoutes(services),
  ...erasureRoutes(services),
  ...graphQlRoutes(services, shared),
  ...accessRoutes(services),
  ...secretRoutes(services),
  ...automationRoutes(services),
  ...deliveryRoutes(services),
  ...gatewayRoutes(services),
  ...trainingRoutes(services),
  ...rebuildRoutes(services),
  ...priceListRoutes(services),
  ...pageRoutes(services),
  comparisonPageRoute(services, shared.comparisons),
  ...runPageRoutes(services, shared),
  ...auditRoutes(services),
  ...serviceRoutes(services),
]
