export { AGGREGATIONS, figureCount, type Figures, type RequestedMetric } from './metric.js'
export { CALL_METRICS, callStats } from './queries-of-calls.js'
export {
  isCost,
  USAGE_METRICS,
  usageStats,
  type UsageBucket,
  type UsageMetric,
  type UsageStats,
} from './usage-stats.js'
