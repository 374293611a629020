import type { Services } from '../../application/services.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'

const DAY_MS = 24 * 3600 * 1000

/** The statistics of the last 24 hours; null if the read models cannot be read. What they are shown with can. */
export const ofLastDay = async <A>(
  { clock }: Pick<Services, 'clock'>,
  read: (team: string, since: Instant) => Promise<A>,
  team: string,
): Promise<A | null> => {
  try {
    return await read(team, instantOf(new Date(clock.now().getTime() - DAY_MS)))
  } catch {
    return null
  }
}
