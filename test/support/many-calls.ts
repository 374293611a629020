import type { ClickHouseWriter } from '../../src/domain/ports/clickhouse.js'

const CALLS_A_TRACE = 50
const CALLS_AN_OP = 5000
const ROWS_AN_INSERT = 100_000

/** The SQL of the id of call number `n`: ids begin with the time, as those of clients do. */
const idOf = (n: string): string =>
  `concat('0193', leftPad(lower(hex(toUInt32(${n}))), 8, '0'), '-7000-', leftPad(lower(hex(sipHash64(${n}))), 16, '0'))`

const parentOf = (n: string): string =>
  `if(${n} % ${CALLS_A_TRACE} = 0, NULL, ${idOf(`intDiv(${n}, 50) * 50 + intDiv(${n} % 50 - 1, 7)`)})`

const at = (n: string): string =>
  `toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + toIntervalMillisecond(${n})`

/** The trace, the parent, the op and a text of a call, and the call itself, to be asked for. */
export const someCall = (project: string) => `SELECT id, trace_id, parent_id, op_name,
  JSONExtractString(inputs, 'text') AS text FROM calls FINAL
  WHERE project_id = '${project}' AND trace_id = 'trace-777' AND parent_id IS NOT NULL ORDER BY id LIMIT 1`

/**
 * Calls as the projector writes them, made by the engine itself: traces of 50, an op for every 5,000 of them, starts and
 * ends apart.
 */
export const fillCalls = async (writer: ClickHouseWriter, project: string, calls: number): Promise<void> => {
  for (let from = 0; from < calls; from += ROWS_AN_INSERT) {
    const numbers = `FROM numbers(${from}, ${Math.min(ROWS_AN_INSERT, calls - from)})`
    const common = `'${project}', ${idOf('number')}`
    await writer.command(`INSERT INTO calls (project_id, id, op_name, trace_id, parent_id, started_at, attributes,
      inputs, wb_user_id, started_position)
      SELECT ${common}, concat('weave:///${project}/op/op-', toString(intDiv(number, ${CALLS_AN_OP})), ':v', toString(number % 3)),
      concat('trace-', toString(intDiv(number, ${CALLS_A_TRACE}))), ${parentOf('number')}, ${at('number')},
      '{"weave":{"source":"js-sdk"}}',
      concat('{"x":', toString(number % 1000), ',"text":"', hex(sipHash64(number, 1)), hex(sipHash64(number, 2)),
        hex(sipHash64(number, 3)), hex(sipHash64(number, 4)), '"}'), 'admin', number + 1 ${numbers}`)
    await writer.command(`INSERT INTO calls (project_id, id, ended_at, output, summary, ended_position)
      SELECT ${common}, ${at('number + 1000')}, concat('"', hex(sipHash64(number, 5)), '"'),
      '{"usage":{"gpt-4":{"prompt_tokens":1}}}', ${calls} + number + 1 ${numbers}`)
  }
}
