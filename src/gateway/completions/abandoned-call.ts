import { callDecider, callStream } from '../../domain/calls/call.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { execute } from '../../kernel/execute.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'

export interface AbandonedCall {
  readonly project: string
  readonly id: string
  readonly endedAt: Date
  readonly exception: string
  readonly summary?: JsonObject
}

/** Ends a call with unknown usage, unless it has ended. Returns undefined if it has, or never started (gateway rule 3). */
export const endAbandonedCall = async (
  { eventStore, ids }: Pick<Ports, 'eventStore' | 'ids'>,
  { project, id, endedAt, exception, summary = {} }: AbandonedCall,
): Promise<Position | undefined> => {
  const end = {
    project_id: project,
    id,
    ended_at: instantOf(endedAt),
    output: null,
    summary: { tallytree: { metering: 'unknown', ...summary } },
    exception,
    wb_run_step_end: null,
    spilled: {},
  }
  const { position } = await execute({ eventStore, ids })(
    callDecider,
    callStream(project, id),
    [{ type: 'GiveUpCall', usage: { models: [], status_total: null, response_id: null }, end }],
    { correlationId: id, causationId: id, actor: 'system', part: 'inference' },
  )
  return position
}
