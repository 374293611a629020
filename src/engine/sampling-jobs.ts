import { LRUCache } from 'lru-cache'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { baseState, decodeCheckpoint, type ModelState } from './checkpoint.js'
import { serializedError, type SerializedError } from './errors.js'
import type { FromThread, SampledChoiceToken, SampleJob } from './protocol.js'
import { seedOfChoice } from './random.js'
import { sample, type SampledToken } from './sample.js'

/** Checkpoints in memory at a time. */
const CHECKPOINTS = 8

/** Choices that are sampled at the same time; each has a cache of keys and values. */
const MOST_CHOICES = 256

interface RunningRequest {
  readonly id: number
  readonly choices: Map<number, Generator<SampledToken, void, undefined>>
}

interface PendingRequest {
  readonly id: number
  readonly job: SampleJob
}

export interface SamplingJobs {
  readonly start: (id: number, job: SampleJob) => void
  readonly cancel: (id: number) => void
  readonly loaded: (key: string, bytes: Uint8Array) => void
  readonly loadFailed: (key: string, error: SerializedError) => void
}

/** Samples all requests in turn, one token of each choice at a time. */
export const samplingJobs = (post: (message: FromThread) => void): SamplingJobs => {
  const states = new LRUCache<string, ModelState>({ max: CHECKPOINTS })
  const pending = new Map<string, PendingRequest[]>()
  const running = new Map<number, RunningRequest>()
  const queue: { readonly request: PendingRequest; readonly state: ModelState }[] = []
  let isRunning = false

  const fail = (id: number, error: unknown): void =>
    post({ type: 'failed', id, error: serializedError(error) })

  const close = ({ id, choices }: RunningRequest): void => {
    running.delete(id)
    for (const choice of choices.values()) choice.return()
  }

  const advance = (request: RunningRequest): void => {
    const tokens: SampledChoiceToken[] = []
    try {
      for (const [choice, generator] of request.choices) {
        const { done, value } = generator.next()
        if (done === true) request.choices.delete(choice)
        else tokens.push({ choice, ...value })
      }
    } catch (error) {
      close(request)
      fail(request.id, error)
      return
    }
    if (tokens.length > 0) post({ type: 'tokens', id: request.id, tokens })
    if (request.choices.size > 0) return
    close(request)
    post({ type: 'sampled', id: request.id })
  }

  const run = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    while (running.size > 0) {
      for (const request of [...running.values()]) advance(request)
      beginQueued()
      // Lets messages arrive: new requests and cancellations.
      await nextTurn()
    }
    isRunning = false
  }

  const hasRoomFor = (choices: number): boolean => {
    const inUse = [...running.values()].reduce((sum, request) => sum + request.choices.size, 0)
    return inUse === 0 || inUse + choices <= MOST_CHOICES
  }

  const begin = (request: PendingRequest, state: ModelState): void => {
    queue.push({ request, state })
    beginQueued()
    void run()
  }

  const beginQueued = (): void => {
    while (queue.length > 0 && hasRoomFor(queue[0]!.request.job.choices)) {
      const { request, state } = queue.shift()!
      const { prompt, options, choices } = request.job
      const generators = Array.from({ length: choices }, (_, choice) =>
        sample(state, prompt, { ...options, seed: seedOfChoice(options.seed, choice) }),
      )
      running.set(request.id, { id: request.id, choices: new Map(generators.entries()) })
    }
  }

  const cached = (key: string, make: () => ModelState): ModelState => {
    const found = states.get(key)
    if (found !== undefined) return found
    const made = make()
    states.set(key, made)
    return made
  }

  const beginWith = (request: PendingRequest, key: string, bytes: Uint8Array | null): void => {
    try {
      begin(
        request,
        cached(key, () => (bytes === null ? baseState(request.job.baseModel) : decodeCheckpoint(bytes))),
      )
    } catch (error) {
      fail(request.id, error)
    }
  }

  const takePending = (key: string): readonly PendingRequest[] => {
    const requests = pending.get(key) ?? []
    pending.delete(key)
    return requests
  }

  return {
    start: (id, job) => {
      const request = { id, job }
      if (job.key === null) {
        beginWith(request, `base ${job.baseModel}`, null)
        return
      }
      const key = `checkpoint ${job.key}`
      const state = states.get(key)
      if (state !== undefined) {
        begin(request, state)
        return
      }
      const others = pending.get(job.key)
      if (others !== undefined) others.push(request)
      else {
        pending.set(job.key, [request])
        post({ type: 'load', key: job.key })
      }
    },
    cancel: (id) => {
      const request = running.get(id)
      if (request !== undefined) close(request)
      const queued = queue.findIndex((candidate) => candidate.request.id === id)
      if (queued >= 0) queue.splice(queued, 1)
      beginQueued()
      for (const [key, requests] of pending) {
        const others = requests.filter((candidate) => candidate.id !== id)
        if (others.length > 0) pending.set(key, others)
        else pending.delete(key)
      }
    },
    loaded: (key, bytes) => {
      for (const request of takePending(key)) beginWith(request, `checkpoint ${key}`, bytes)
    },
    loadFailed: (key, error) => {
      for (const { id } of takePending(key)) post({ type: 'failed', id, error })
    },
  }
}
