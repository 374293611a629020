import { callDecider } from '../../domain/calls/decider.js'
import { callStream } from '../../domain/calls/events.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { execute } from '../../kernel/execute.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'

export interface GivenUp {
  readonly project: string
  readonly id: string
  readonly endedAt: Date
  readonly exception: string
  /** What its summary says beside that nobody knows what was used. */
  readonly said?: JsonObject
}

/** Ends a completion that nobody else ends, where it began and has no end: what it used is unknown (gateway rule 3). */
export const giveUp = async (
  { eventStore, ids }: Pick<Ports, 'eventStore' | 'ids'>,
  { project, id, endedAt, exception, said = {} }: GivenUp,
): Promise<Position | undefined> => {
  const end = {
    project_id: project,
    id,
    ended_at: instantOf(endedAt),
    output: null,
    summary: { tallytree: { metering: 'unknown', ...said } },
    exception,
    wb_run_step_end: null,
    spilled: {},
  }
  const { position } = await execute({ eventStore, ids })(
    callDecider,
    callStream(project, id),
    [{ type: 'GiveUpCall', usage: { models: [], status_total: null }, end }],
    { correlationId: id, causationId: id, actor: 'system', part: 'inference' },
  )
  return position
}
