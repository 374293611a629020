import { useEffect, useReducer, useRef } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import type { Series } from '../kit/thin.js'

export type JobEvent = Schemas['TrainingEvent']

export interface JobEvents {
  readonly events: readonly JobEvent[]
  readonly series: ReadonlyMap<string, Series>
  /** Gradient steps that were read. */
  readonly steps: number
  /** All events that there are now were read. */
  readonly isCaughtUp: boolean
  readonly error: Error | undefined
  /** Changes with each page that was read. */
  readonly version: number
}

const PAGE = 2000
const EVERY_MS = 1000
const RETRY_MS = 5000

interface Store {
  readonly events: JobEvent[]
  readonly series: Map<string, Series>
  steps: number
  isCaughtUp: boolean
  error: Error | undefined
}

const emptyStore = (): Store => ({
  events: [],
  series: new Map(),
  steps: 0,
  isCaughtUp: false,
  error: undefined,
})

const add = (store: Store, event: JobEvent): void => {
  store.events.push(event)
  if (event.type !== 'gradient_step') return
  store.steps++
  for (const [name, value] of Object.entries(event.data)) {
    if (typeof value !== 'number') continue
    let series = store.series.get(name)
    if (series === undefined) store.series.set(name, (series = { x: [], y: [] }))
    series.x.push(store.steps)
    series.y.push(value)
  }
}

const isLast = ({ type }: JobEvent): boolean => type === 'training_ended' || type === 'training_failed'

const pause = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

/** Reads the events of a job page by page after the last one, until the job has ended. */
const follow = async (jobId: string, store: Store, onPage: () => void, signal: AbortSignal) => {
  const hasLeft = () => signal.aborted
  while (!hasLeft()) {
    const last = store.events.at(-1)
    if (last !== undefined && isLast(last)) return
    try {
      const query = { limit: PAGE, ...(last === undefined ? {} : { after: last.id }) }
      const params = { path: { job_id: jobId }, query }
      const { data, has_more } = await dataOf(
        api.GET('/v1/preview/training-jobs/{job_id}/events', { params, signal }),
      )
      for (const event of data) add(store, event)
      const isNew = data.length > 0 || !store.isCaughtUp || store.error !== undefined
      store.isCaughtUp ||= !has_more
      store.error = undefined
      if (isNew) onPage()
      // The page draws what arrived before the next answer is read.
      await pause(has_more ? 0 : EVERY_MS, signal)
    } catch (error) {
      if (hasLeft()) return
      store.error = error as Error
      onPage()
      await pause(RETRY_MS, signal)
    }
    while (document.hidden && !hasLeft()) await pause(EVERY_MS, signal)
  }
}

/** The events of a job, live while it runs. */
export const useJobEvents = (jobId: string): JobEvents => {
  const [version, changed] = useReducer((before: number) => before + 1, 0)
  const store = useRef(emptyStore())
  useEffect(() => {
    const leaving = new AbortController()
    store.current = emptyStore()
    void follow(jobId, store.current, changed, leaving.signal)
    return () => leaving.abort()
  }, [jobId])
  return { ...store.current, version }
}
