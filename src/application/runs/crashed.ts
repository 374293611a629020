import { instantOf } from '../../kernel/codec/instant.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { RunKey } from '../../projections/runs/queries.js'
import type { Runs } from './runs.js'

/** Programs are heard of every 30 seconds, and recorded at least every minute. */
const CRASHED_AFTER_MS = 15 * 60_000

/** Ends those of the running runs whose programs were not heard of for 15 minutes. Returns how many. */
export const endCrashedRuns = async (
  { clock, ids }: Pick<Ports, 'clock' | 'ids'>,
  running: readonly RunKey[],
  runs: Runs,
): Promise<number> => {
  let ended = 0
  for (const { project_id, run_id } of running) {
    const now = clock.now()
    const isSilent = await runs.read(
      project_id,
      run_id,
      ({ state, updatedAt }) =>
        state.ended === null &&
        updatedAt !== null &&
        now.getTime() - Date.parse(updatedAt) > CRASHED_AFTER_MS,
    )
    if (isSilent !== true) continue
    const id = ids.next()
    const command = { type: 'EndRun', project_id, run_id, state: 'crashed', now: instantOf(now) } as const
    await runs.write(command, { correlationId: id, causationId: id, actor: 'system' })
    ended += 1
  }
  return ended
}
