import type { Unmet } from './verdict.js'

const SAID: Readonly<Record<Exclude<Unmet['why'], 'window_not_full' | 'threshold' | 'cooldown'>, string>> = {
  not_there: 'The automation did not exist yet.',
  deleted: 'The automation had been deleted.',
  disabled: 'The automation was disabled at that time.',
  event_type: 'The automation triggers on another event type.',
  scope: "The event is outside the automation's scope.",
  alias_pattern: 'The alias does not match alias_pattern.',
  tag_pattern: 'The tag does not match tag_pattern.',
  run_user: 'The run belongs to a user other than the one in run_filters.',
  run_name_pattern: "The run's name does not match run_filters.name_pattern.",
  state: "The run's new state is not one of the automation's states.",
  outcome: "The evaluation run's outcome is not one of the automation's outcomes.",
  evaluation_pattern: "The evaluation's name does not match evaluation_pattern.",
  scorer: "The score is of another scorer than the automation's.",
  score_absent: 'The score has no number or boolean at score_path.',
  not_failed: 'The call did not fail.',
  query: 'The event does not meet the query.',
  metric_absent: "The event did not log the automation's metric.",
  measure_unknown: 'The call has no value for what the automation measures.',
  price_unknown: 'The cost of the call is unknown: no model that used tokens had a price.',
  prior_is_zero: 'The prior values are zero, so there is no relative change.',
  no_deviation: 'All prior values are equal, so there is no standard deviation to compare with.',
}

/** Describes the first unmet condition. */
export const describeUnmet = (unmet: Unmet): string => {
  switch (unmet.why) {
    case 'window_not_full':
      return `The window has ${unmet.has} of the ${unmet.needs} values it needs.`
    case 'threshold':
      return `The value ${unmet.value} does not meet the threshold ${unmet.threshold}.`
    case 'cooldown':
      return `The automation is in its cooldown for this run until ${unmet.until.toISOString()}.`
    default:
      return SAID[unmet.why]
  }
}
