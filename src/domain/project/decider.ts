import { nothing, type Decider } from '../decider.js'
import type { ChooseUsageReporting } from './commands.js'
import type { ProjectChosen, UsageReporting } from './events.js'

interface ProjectState {
  readonly usageReporting: UsageReporting
}

export const projectDecider: Decider<ProjectState, ChooseUsageReporting, ProjectChosen> = {
  initialState: { usageReporting: 'auto' },

  evolve: (_state, { data }) => ({ usageReporting: data.usage_reporting }),

  decide: (state, { project_id, usage_reporting }) =>
    state.usageReporting === usage_reporting
      ? nothing
      : { events: [{ type: 'UsageReportingChosen', data: { project_id, usage_reporting } }] },
}
