const LONGEST_MS = 3
/** A computation does not pause before, so that short ones do not wait for long ones. */
const FREE_MS = 1

/** When the event loop last had a turn, as far as these computations know. */
let heldSince = 0
const waiting: (() => void)[] = []

const resumeNext = (): void => {
  heldSince = performance.now()
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(resumeNext)
}

/**
 * For long computations. Call it often: it returns a promise to await once 3 ms have passed since the last pause of any
 * computation. One of them goes on per turn of the loop: otherwise many at once would hold it for 3 ms each.
 */
export const yielding = (freeMs = FREE_MS): (() => Promise<void> | undefined) => {
  let spent = 0
  let last = Infinity
  return () => {
    const now = performance.now()
    spent += Math.max(0, now - last)
    last = now
    if (spent < freeMs || now - heldSince < LONGEST_MS) return undefined
    return new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(resumeNext)
    })
  }
}

/** Takes the steps of a computation, and lets other work run in between. */
export const inSteps = async <A>(steps: Iterator<unknown, A>): Promise<A> => {
  const pause = yielding()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await pause()
  }
}

export const mapInSteps = async <A, B>(items: Iterable<A>, map: (item: A) => B): Promise<readonly B[]> => {
  const mapped: B[] = []
  const pause = yielding()
  for (const item of items) {
    mapped.push(map(item))
    await pause()
  }
  return mapped
}
