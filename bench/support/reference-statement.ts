import { join } from 'node:path'
import { openEmbeddedClickHouse } from '../../src/adapters/clickhouse/embedded.js'

/** What the statement took on the machine for which the goals were set, at 10,000,000 calls. */
export const REFERENCE_MS = 180

/** A bare statement of the engine over the calls of a year, by day and op: median of several runs, in milliseconds. */
export const timeOfReference = async (
  directory: string,
  project: string,
  from: string,
  runs: number,
): Promise<number> => {
  const clickHouse = await openEmbeddedClickHouse(join(directory, 'clickhouse'))
  const times: number[] = []
  for (let run = 0; run < runs; run += 1) {
    const begin = performance.now()
    await clickHouse.reader.query(
      `SELECT toStartOfDay(started_at) AS day, op, count() AS calls FROM calls
      WHERE project_id = {project:String} AND started_at >= parseDateTimeBestEffort({from:String}, 'UTC')
      GROUP BY day, op`,
      { project, from },
    )
    times.push(performance.now() - begin)
  }
  await clickHouse.close()
  return times.toSorted((a, b) => a - b)[Math.floor(runs / 2)]!
}
