/** Measured with 64 clients: with 1, a quarter fewer completions a second than without turns; with 4 or 16, as many. */
const MOST_PER_TURN = 8

/** Resolves when it is the turn of one of a team's requests; undefined if no other request waits. */
export type NextTurn = (team: string) => Promise<void> | undefined

/**
 * Lets a few requests go on per turn of the event loop, one of each team after the other. Requests that arrive while others
 * are served would otherwise run in the order of their arrival, so that one team's burst would delay everybody by its length.
 */
export const fairTurns = (): NextTurn => {
  /** The team whose turn comes next is first. */
  const queues = new Map<string, (() => void)[]>()
  let isTaken = false

  const serveEach = () => {
    isTaken = queues.size > 0
    if (!isTaken) return
    setImmediate(serveEach)
    for (let served = 0; served < MOST_PER_TURN && queues.size > 0;)
      for (const [team, queue] of [...queues]) {
        queue.shift()!()
        served += 1
        if (queue.length === 0) queues.delete(team)
      }
  }

  return (team) => {
    if (!isTaken) {
      isTaken = true
      setImmediate(serveEach)
      return undefined
    }
    return new Promise((resolve) => {
      const queue = queues.get(team)
      if (queue === undefined) queues.set(team, [resolve])
      else queue.push(resolve)
    })
  }
}
