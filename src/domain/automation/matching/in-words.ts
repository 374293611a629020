import type { Unmet } from './verdict.js'

const SAID: Readonly<Record<Exclude<Unmet['why'], 'window_not_full' | 'threshold' | 'cooldown'>, string>> = {
  not_there: 'The automation did not exist yet.',
  deleted: 'The automation was deleted by then.',
  disabled: 'The automation was disabled at that time.',
  event_type: 'The automation waits for another type of event.',
  scope: "The event did not happen where the automation's scope is.",
  alias_pattern: 'The alias does not fit alias_pattern.',
  tag_pattern: 'The tag does not fit tag_pattern.',
  run_user: 'The run belongs to another user than run_filters names.',
  run_name_pattern: "The run's name does not fit run_filters.name_pattern.",
  state: "The run's new state is none of the automation's states.",
  not_failed: 'The call did not fail.',
  metric_absent: "The automation's metric was not logged here.",
  measure_unknown: 'The call does not tell what the automation measures.',
  price_unknown: 'None of the models that the call used had a price.',
  prior_is_zero: 'The values before are zero, so that no relative change can be told.',
  no_deviation: 'All values before are equal, so that no deviation can be told.',
}

/** The first condition that an event did not meet, for people. */
export const inWords = (unmet: Unmet): string => {
  switch (unmet.why) {
    case 'window_not_full':
      return `Of ${unmet.needs} values that the automation looks at, ${unmet.has} were logged.`
    case 'threshold':
      return `The value was ${unmet.value}, and ${unmet.threshold} is asked for.`
    case 'cooldown':
      return `It had fired for the same run before, and may again from ${unmet.until.toISOString()} on.`
    default:
      return SAID[unmet.why]
  }
}
