import { randomUUID } from 'node:crypto'
import { newEvent } from '../../../src/kernel/event.js'
import { callStarted, callStream } from '../../../src/domain/calls/call.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { EventStore, Position } from '../../../src/kernel/ports/event-store.js'

export const PROJECT = 'poisoned/project'

const arbitraryCause = () => ({ correlationId: randomUUID(), causationId: randomUUID(), actor: 'test' })

/** Appends an event as it is, whether or not its codec would take it. */
export const append = async (eventStore: EventStore, type: string, data: JsonObject): Promise<Position> => {
  const event = newEvent(randomUUID(), { type, data }, arbitraryCause())
  const { position } = await eventStore.append(callStream(PROJECT, randomUUID()), 'none', [event])
  return position!
}

/** The start of a call, as its codec accepts it. */
export const startOf = (id: string): JsonObject => {
  const decoded = callStarted.decode({
    project_id: PROJECT,
    id,
    op_name: 'op',
    started_at: '2026-01-01T00:00:00Z',
    trace_id: id,
    trace_from: 'call',
    inputs: { of: id },
  })
  if (decoded._tag === 'Left') throw new Error('the start is not valid')
  return decoded.right
}

const BLOB = { digest: 'a'.repeat(64), size: 1000, canonical: 'b'.repeat(64) }

/** Starts of calls that cannot become rows, each for another reason. */
export const POISON: Readonly<Record<string, JsonObject>> = {
  'a date that is no string': { ...startOf('poison-1'), started_at: null },
  'a date that no calendar has': { ...startOf('poison-2'), started_at: '9999-99-99T00:00:00.000000Z' },
  'half a surrogate pair': { ...startOf('poison-3'), op_name: '\ud800' },
  'an unknown word for an enum': { ...startOf('poison-4'), source: 'another-sdk' },
  'a fraction where an integer stands': { ...startOf('poison-5'), wb_run_step: 1.5 },
  'a field whose blob is missing': { ...startOf('poison-6'), spilled: { inputs: BLOB } },
  'a spilled field that names no blob': { ...startOf('poison-7'), spilled: { inputs: null } },
  'no data at all': {},
}
