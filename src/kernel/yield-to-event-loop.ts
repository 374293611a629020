const LONGEST_MS = 3
/** A computation does not pause before, so that short ones do not wait for long ones. */
const FREE_MS = 1

interface Paused {
  /** Of the computation so far, in ms. */
  readonly spent: number
  readonly resume: () => void
}

/** When the event loop last had a turn, as far as these computations know. */
let heldSince = 0
/** In the order in which they paused. */
const waiting: Paused[] = []
let isShortestNext = true

const resumeNext = (): void => {
  heldSince = performance.now()
  const next = isShortestNext ? shortest() : 0
  isShortestNext = !isShortestNext
  waiting.splice(next, 1)[0]?.resume()
  if (waiting.length > 0) setImmediate(resumeNext)
}

const shortest = (): number =>
  waiting.reduce((least, { spent }, at) => (spent < waiting[least]!.spent ? at : least), 0)

/**
 * For long computations. Call it often: it returns a promise to await once 3 ms have passed since the last pause of any
 * computation. One of them goes on per turn of the loop: otherwise many at once would hold it for 3 ms each. The one that
 * has computed the least goes on first, every other time the one that has waited the longest: a short read does not wait
 * for every large batch, nor a batch for all short reads.
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
      const resume = () => {
        last = performance.now()
        resolve()
      }
      if (waiting.push({ spent, resume }) === 1) setImmediate(resumeNext)
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
