import { teamSlots, type Team } from '../../kernel/team-slots.js'

const MOST_AT_ONCE = 32

/**
 * Bounds the requests that are under way, which teams share. Each refusal for being too fast halves their number, and
 * successes raise it again by one a round.
 */
export const pacing = (isSlowDown: (error: unknown) => boolean, most = MOST_AT_ONCE) => {
  let allowed = most
  const slots = teamSlots(() => Math.floor(allowed))
  const allow = (next: number) => (allowed = Math.min(most, Math.max(1, next)))
  return async <A>(team: Team, request: () => Promise<A>): Promise<A> => {
    if (!slots.take(team)) await new Promise<void>((resolve) => slots.wait(team, resolve))
    try {
      const response = await request()
      allow(allowed + 1 / allowed)
      return response
    } catch (error) {
      if (isSlowDown(error)) allow(allowed / 2)
      throw error
    } finally {
      slots.release(team)
    }
  }
}
