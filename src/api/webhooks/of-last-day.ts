import type { Services } from '../../application/services.js'
import { within } from '../../kernel/within.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'

const DAY_MS = 24 * 3600 * 1000
const MAX_MS = 2000

/**
 * The statistics of the last 24 hours; null if the read models do not answer within 2 s, since what they are shown with
 * does not come from there.
 */
export const ofLastDay = async <A>(
  { clock }: Pick<Services, 'clock'>,
  read: (team: string, since: Instant) => Promise<A>,
  team: string,
): Promise<A | null> => {
  try {
    return (await within(MAX_MS, read(team, instantOf(new Date(clock.now().getTime() - DAY_MS))))) ?? null
  } catch {
    return null
  }
}
