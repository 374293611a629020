import type { WatchConfig } from './watch-config.js'

const COMPARISONS = {
  $gt: 'greater than',
  $gte: 'at least',
  $lt: 'less than',
  $lte: 'at most',
  $eq: 'equal to',
  $ne: 'not equal to',
}
const AGGREGATIONS = { MAX: 'maximum', MIN: 'minimum', AVERAGE: 'average' }
const CHANGES = { INCREASE: 'increases', DECREASE: 'decreases', ANY: 'changes' }
const MEASURES = { total_tokens: 'tokens', cost: 'cost', latency_ms: 'latency in milliseconds' }

/** Says in one sentence what an automation does. The conditions are complete, with their defaults. */
export const describeAutomation = (watch: WatchConfig, webhook: string | null): string =>
  `When ${describeEvent(watch)}${watch.query === null ? '' : ' and meets the query'}, the message is sent to ${webhook === null ? 'a webhook' : `the webhook "${webhook}"`}.`

const describeEvent = ({ scope, event, run_filters: filters }: WatchConfig): string => {
  const place =
    scope.type === 'project'
      ? `the project ${scope.entity}/${scope.project}`
      : scope.type === 'registry'
        ? `the registry ${scope.registry}`
        : `the team ${scope.entity}`
  const matching = (pattern: string | null) => (pattern === null ? '' : ` that matches ${pattern}`)
  const run = [
    'a run',
    ...(filters?.user == null ? [] : [`of the user ${filters.user}`]),
    ...(filters?.name_pattern == null ? [] : [`with a name${matching(filters.name_pattern)}`]),
    `in ${place}`,
  ].join(' ')
  const threshold = `${event.comparison === null ? '' : `${COMPARISONS[event.comparison]} `}${event.threshold}`
  const ofLast = (count: number | null) =>
    count === null || count === 1 ? 'the last value' : `the last ${count} values`
  const values = (count: number | null) =>
    event.aggregation === null ? ofLast(count) : `the ${AGGREGATIONS[event.aggregation]} of ${ofLast(count)}`
  const change = CHANGES[event.change_direction ?? 'ANY']
  switch (event.type) {
    case 'ADD_ARTIFACT_ALIAS':
      return `an alias${matching(event.alias_pattern)} is added to an artifact version in ${place}`
    case 'ADD_ARTIFACT_TAG':
      return `a tag${matching(event.tag_pattern)} is added to an artifact version in ${place}`
    case 'REMOVE_ARTIFACT_TAG':
      return `a tag${matching(event.tag_pattern)} is removed from an artifact version in ${place}`
    case 'CREATE_ARTIFACT':
      return `an artifact version is created in ${place}`
    case 'LINK_ARTIFACT':
      return `an artifact version is linked to ${place}`
    case 'UNLINK_ARTIFACT':
      return `an artifact version is unlinked from ${place}`
    case 'RUN_METRIC':
      return `${values(event.window)} of the metric ${event.metric} of ${run} is ${threshold}`
    case 'RUN_METRIC_CHANGE': {
      const amount = event.change_amount ?? 0
      const by =
        event.change_type === 'RELATIVE' ? `${Number((amount * 100).toPrecision(12))} %` : `${amount}`
      const compared = `compared with ${ofLast(event.prior_window)} before`
      return `${values(event.window)} of the metric ${event.metric} of ${run} ${change} by at least ${by} ${compared}`
    }
    case 'RUN_METRIC_ZSCORE': {
      const direction = { INCREASE: 'above', DECREASE: 'below', ANY: 'from' }[event.change_direction ?? 'ANY']
      return (
        `a value of the metric ${event.metric} of ${run} is at least ${event.threshold} standard deviations ` +
        `${direction} the average of ${ofLast(event.window)} before`
      )
    }
    case 'RUN_STATE':
      return `${run} gets the state ${anyOf(event.states)}`
    case 'CALL_FAILED':
      return `a call in ${place} fails`
    case 'CALL_USAGE_THRESHOLD':
      return `the ${event.measure === null ? 'usage' : MEASURES[event.measure]} of a call in ${place} is ${threshold}`
    case 'WEBHOOK_DISABLED':
      return `a webhook of ${place} is disabled`
    case 'WEBHOOK_FAILING':
      return `a webhook of ${place} has failed for an hour or a day`
    case 'DELIVERY_DEAD':
      return `a delivery of ${place} is given up`
    case 'BUDGET_REACHED':
      return `a budget of ${place} reaches one of its levels`
    case 'EVALUATION_FINISHED': {
      const outcome = event.outcomes === null ? '' : ` with the outcome ${anyOf(event.outcomes)}`
      const of =
        event.evaluation_pattern === null ? '' : ` of an evaluation${matching(event.evaluation_pattern)}`
      return `an evaluation run${of} in ${place} ends${outcome}`
    }
    case 'SCORE_THRESHOLD': {
      const at = event.score_path === null ? '' : ` at ${event.score_path}`
      return `the score${at} of the scorer ${event.scorer} in ${place} is ${threshold}`
    }
    default:
      return event.type satisfies never
  }
}

const anyOf = (choices: readonly string[] | null): string => (choices ?? []).join(' or ')
