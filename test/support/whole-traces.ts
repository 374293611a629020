import { FIGURES } from '../../src/domain/calls/usage/reported.js'
import type { ClickHouseWriter } from '../../src/kernel/ports/clickhouse.js'

export interface TraceShape {
  /** Which call is the parent of a call. In a `cycle`, the last call is the first one's parent. */
  readonly parent: 'first' | 'previous' | 'cycle' | 'tree of eight'
  /** One model for all calls, another one for each call, or no end and no usage. */
  readonly models: 'one' | 'each' | 'none'
  /** More than one: their ids end in a number. */
  readonly traces?: number
}

/** Inserts the rows of a trace of so many calls, each of one request, as the projector would. */
export const fillTrace = async (
  writer: Pick<ClickHouseWriter, 'command'>,
  project: string,
  trace: string,
  calls: number,
  { parent, models, traces = 1 }: TraceShape,
): Promise<void> => {
  const n = `(number % ${calls})`
  const traceId = traces === 1 ? `'${trace}'` : `concat('${trace}-', toString(intDiv(number, ${calls})))`
  const id = (place: string) => `concat(${traceId}, '-', leftPad(toString(${place}), 8, '0'))`
  const belowFirst = (place: string) => `if(${n} = 0, '', ${id(place)})`
  const parentId = {
    first: belowFirst('0'),
    previous: belowFirst(`${n} - 1`),
    cycle: id(`(${n} + ${calls - 1}) % ${calls}`),
    'tree of eight': belowFirst(`intDiv(${n} - 1, 8)`),
  }[parent]
  const at = `toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + toIntervalMillisecond(number)`
  const model = { one: `['model']`, each: `[concat('model-', toString(${n}))]`, none: '[]' }[models]
  const facts = {
    project_id: `'${project}'`,
    trace_id: traceId,
    call_id: id(n),
    position: 1,
    started_position: 1,
    ended_position: models === 'none' ? 0 : 1,
    deleted_position: 0,
    parent_id: parentId,
    started_at: at,
    ended_at: at,
    source: `''`,
    models: model,
    figures: models === 'none' ? '[]' : `[1, 1, 5${', 0'.repeat(FIGURES.length - 3)}]`,
  }
  const rows = {
    project_id: `'${project}'`,
    trace_id: traceId,
    id: id(n),
    parent_id: `nullIf(${parentId}, '')`,
    op_name: `'op'`,
    op: `'op'`,
    started_at: at,
    started_position: 1,
  }
  const { project_id, trace_id, id: callId, started_at } = rows
  const index = { project_id, trace_id, id: callId, started_at, position: 1 }
  for (const [table, columns] of Object.entries({ usage_facts: facts, calls: rows, call_index: index }))
    await writer.command(
      `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
      SELECT ${Object.values(columns).join(', ')} FROM numbers(${calls * traces})`,
    )
}
