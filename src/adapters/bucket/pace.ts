import PQueue from 'p-queue'

const MOST_AT_ONCE = 32

/**
 * Bounds the requests that are under way. Each refusal for being too fast halves their number, and successes raise it
 * again by one a round.
 */
export const pacing = (isSlowDown: (error: unknown) => boolean, most = MOST_AT_ONCE) => {
  const queue = new PQueue({ concurrency: most })
  let allowed = most
  const allow = (next: number) => {
    allowed = Math.min(most, Math.max(1, next))
    queue.concurrency = Math.floor(allowed)
  }
  return async <A>(request: () => Promise<A>): Promise<A> =>
    queue.add(async () => {
      try {
        const response = await request()
        allow(allowed + 1 / allowed)
        return response
      } catch (error) {
        if (isSlowDown(error)) allow(allowed / 2)
        throw error
      }
    }) as Promise<A>
}
