import { nothing, type Decider } from '../../kernel/decider.js'
import type { RequestRebuild } from './commands.js'
import type { RebuildEvent } from './events.js'

interface RebuildState {
  readonly requested: boolean
}

/** The log has only the request: the outcome concerns the tables, not the log. */
export const rebuildDecider: Decider<RebuildState, RequestRebuild, RebuildEvent> = {
  initialState: () => ({ requested: false }),
  evolve: (state, { type }) => ((type as string) === 'RebuildRequested' ? { requested: true } : state),
  decide: ({ requested }, { request }) =>
    requested ? nothing : { events: [{ type: 'RebuildRequested', data: request }] },
}
