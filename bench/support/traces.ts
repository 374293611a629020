import { join } from 'node:path'
import { openEmbeddedClickHouse } from '../../src/adapters/clickhouse/embedded.js'
import { migrate } from '../../src/projections/migrate.js'

export const PROJECT = 'bench/traces'

/** Rows as the projector writes them, made by the engine itself: whole traces of the given numbers of calls. */
export const fillTraces = async (dataDirectory: string, sizes: readonly number[]): Promise<void> => {
  const clickHouse = await openEmbeddedClickHouse(join(dataDirectory, 'clickhouse'))
  const { writer } = clickHouse
  await migrate(writer)
  for (const size of sizes) {
    const id = (n: string) =>
      `concat('0193a000-0000-7', hex(toUInt16(${size} % 4096)), '-', leftPad(toString(${n}), 12, '0'))`
    const common = `'${PROJECT}' AS project_id, 'trace-${size}' AS trace_id`
    const started = `toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + toIntervalMillisecond(number)`
    const usage = `[1, 10 + number % 90, 0, 5 + number % 40, 0, 0, 0, 0]`
    await writer.command(`INSERT INTO usage_facts SELECT ${common}, ${id('number')}, 1, 1, 1, 0,
      if(number = 0, '', ${id('intDiv(number - 1, 8)')}), ${started}, ${started} + toIntervalSecond(1), '', NULL,
      if(number % 8 = 0, [], ['gpt-4']), if(number % 8 = 0, [], ${usage}) FROM numbers(${size})`)
    await writer.command(`INSERT INTO calls (project_id, trace_id, id, op_name, parent_id, started_at, ended_at,
      attributes, inputs, output, summary, started_position, ended_position)
      SELECT ${common}, ${id('number')}, 'op', if(number = 0, NULL, ${id('intDiv(number - 1, 8)')}), ${started},
      ${started} + toIntervalSecond(1), '{}', '{}', 'null', '{}', 1, 1 FROM numbers(${size})`)
  }
  await writer.command(
    `INSERT INTO call_index SELECT project_id, id, assumeNotNull(trace_id), started_at, 1 FROM calls`,
  )
  await writer.command(`INSERT INTO checkpoints VALUES ('main', 1000000)`)
  for (const table of ['calls', 'usage_facts']) await writer.command(`OPTIMIZE TABLE ${table} FINAL`)
  await clickHouse.close()
}

/** The root of the trace of this size. */
export const rootOf = (size: number): string =>
  `0193a000-0000-7${(size % 4096).toString(16).toUpperCase().padStart(4, '0')}-${'0'.repeat(12)}`
