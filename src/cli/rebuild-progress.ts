import { setTimeout as sleep } from 'node:timers/promises'
import type { Rebuild } from '../projections/rebuilds/queries.js'

/** What of a rebuild is told; positions as numbers or as digits. */
export interface SeenRebuild extends Partial<
  Pick<Rebuild, 'events' | 'events_per_second' | 'remaining_seconds'>
> {
  readonly id: string
  readonly state: Rebuild['state']
  readonly changed_models?: readonly string[]
  readonly reason?: string | null
}

export type LookAt = () => Promise<SeenRebuild>

const LOOK_MS = 1000

/** Says on stderr how far a rebuild is until it has ended, and then what became of it; the exit code. */
export const toldUntilEnded = async (look: LookAt): Promise<number> => {
  for (;;) {
    const seen = await look()
    if (seen.state === 'finished') {
      const changed = seen.changed_models ?? []
      process.stdout.write(
        changed.length === 0
          ? 'rebuilt: every read model says what it said before\n'
          : `rebuilt: ${changed.join(', ')} said something else before\n`,
      )
      return 0
    }
    if (seen.state === 'failed' || seen.state === 'superseded') {
      process.stderr.write(`the rebuild is ${seen.state}${seen.reason ? `: ${seen.reason}` : ''}\n`)
      return 1
    }
    process.stderr.write(`${lineOf(seen)}\n`)
    await sleep(LOOK_MS)
  }
}

const lineOf = ({ state, events = 0, events_per_second = 0, remaining_seconds }: SeenRebuild): string => {
  const left = remaining_seconds == null ? '' : `, about ${Math.ceil(remaining_seconds)} s left`
  return `${state}: ${events} events, ${Math.round(events_per_second)}/s${left}`
}
