export { AGGREGATIONS, figureCount, type Figures, type Wanted } from './metric.js'
export { CALL_METRICS, callStats } from './queries-of-calls.js'
export { USAGE_METRICS, usageStats, type UsageBucket } from './queries-of-usage.js'
