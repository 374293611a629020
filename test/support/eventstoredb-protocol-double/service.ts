import type { Misbehaviour } from './misbehaviour.js'

/** The appends and reads that the double works on, one after another, at the rate that it is given. */
export interface Service {
  readonly serve: (request: () => void) => void
  readonly served: () => number
  /** The most requests that were waiting or being worked on at once. */
  readonly mostUnderWay: () => number
}

export const serviceQueue = (misbehaviour: Pick<Misbehaviour, 'requestsPerSecond'>): Service => {
  const waiting: (() => void)[] = []
  let [served, most, nextAt] = [0, 0, 0]
  let timer: NodeJS.Timeout | undefined

  const work = () => {
    timer = undefined
    while (waiting.length > 0 && nextAt <= performance.now()) {
      served += 1
      waiting.shift()!()
      nextAt += 1000 / misbehaviour.requestsPerSecond
    }
    if (waiting.length > 0) timer = setTimeout(work, nextAt - performance.now())
  }

  return {
    serve: (request) => {
      if (waiting.length === 0) nextAt = Math.max(nextAt, performance.now())
      waiting.push(request)
      most = Math.max(most, waiting.length)
      if (timer === undefined) work()
    },
    served: () => served,
    mostUnderWay: () => most,
  }
}
