/** Resolves when it is the turn of one of a team's requests; undefined if no other request waits. */
export type NextTurn = (team: string) => Promise<void> | undefined

/**
 * Lets one request of each team go on per turn of the event loop. Requests that arrive while others are served would otherwise
 * run in the order of their arrival, so that one team's burst would delay everybody by its length.
 */
export const fairTurns = (): NextTurn => {
  /** The team whose turn comes next is first. */
  const queues = new Map<string, (() => void)[]>()
  let isTaken = false

  const serveEach = () => {
    isTaken = queues.size > 0
    if (!isTaken) return
    setImmediate(serveEach)
    for (const [team, queue] of [...queues]) {
      queue.shift()!()
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
