import type * as t from 'io-ts'
import { instant } from '../../kernel/codec/instant.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { type EventOf, nothing, type Decider } from '../../kernel/decider.js'
import { id } from '../../kernel/ids.js'

export const rebuildRequested = open('RebuildRequested', {
  says: 'An administrator requested a rebuild of all read models from the log.',
  required: { id, requested_at: instant, requested_by: string },
})

export const rebuildEvents = { RebuildRequested: rebuildRequested }

export type RebuildEvent = EventOf<typeof rebuildEvents>

export type RebuildRequested = t.TypeOf<typeof rebuildRequested>

export const rebuildStream = (id: string): string => `rebuild-${id}`

export interface RequestRebuild {
  readonly type: 'RequestRebuild'
  readonly request: RebuildRequested
}

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
