import { ENGINE_THREAD } from '../files.js'
import { deserializedError, serializedError } from './errors.js'
import type { Metrics, RlJob, SampledChoiceToken, SampleJob, SftJob, ToThread } from './protocol.js'
import { threadClient, type JobHandlers } from './thread-client.js'
import type { TrainedCheckpoint } from './train-job.js'

export interface TrainingHooks {
  readonly onStep: (metrics: Metrics) => void
  /** Training ends before its next batch; the promise is rejected with the reason at once. */
  readonly signal: AbortSignal
}

export interface SampleRequest extends Omit<SampleJob, 'key'> {
  /** Null samples the base model. Equal keys mean equal checkpoints: `load` is called for those not in memory. */
  readonly checkpoint: { readonly key: string; readonly load: () => Promise<Uint8Array> } | null
}

/** Trains and samples outside of the event loop of the service, in one thread each. */
export interface Engine {
  /** Returns the new checkpoint. */
  readonly sft: (job: SftJob, hooks: TrainingHooks) => Promise<Uint8Array>
  readonly rl: (job: RlJob, hooks: TrainingHooks) => Promise<TrainedCheckpoint>
  /** The tokens of all choices as they are sampled. */
  readonly sample: (request: SampleRequest, signal: AbortSignal) => AsyncIterable<SampledChoiceToken>
  /** Rejects running jobs. */
  readonly stop: () => Promise<void>
}

export const startEngine = (entry: URL = ENGINE_THREAD): Engine => {
  const loads = checkpointLoads()
  const training = threadClient(entry, 'training')
  const sampling = threadClient(entry, 'sampling', loads.answer)

  const train = (
    message: (id: number, cancelled: Int32Array) => ToThread,
    { onStep, signal }: TrainingHooks,
  ): Promise<TrainedCheckpoint> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const cancelled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
      const end = (): void => {
        signal.removeEventListener('abort', abort)
        job.close()
      }
      const abort = (): void => {
        Atomics.store(cancelled, 0, 1)
        end()
        reject(signal.reason as Error)
      }
      const handlers: JobHandlers = {
        onMessage: (from) => {
          if (from.type === 'step') onStep(from.metrics)
          if (from.type === 'failed') {
            end()
            reject(deserializedError(from.error))
          }
          if (from.type === 'trained') {
            end()
            resolve({ checkpoint: from.checkpoint, gradientSteps: from.gradientSteps })
          }
        },
        onLost: (error) => {
          end()
          reject(error)
        },
      }
      const job = training.start((id) => message(id, cancelled), handlers)
      signal.addEventListener('abort', abort)
    })

  return {
    sft: async (job, hooks) =>
      (await train((id, cancelled) => ({ type: 'sft', id, job: posted(job), cancelled }), hooks)).checkpoint,
    rl: (job, hooks) => train((id, cancelled) => ({ type: 'rl', id, job: posted(job), cancelled }), hooks),
    sample: async function* ({ checkpoint, ...request }, signal) {
      signal.throwIfAborted()
      const job: SampleJob = { ...request, key: checkpoint?.key ?? null }
      const received: SampledChoiceToken[] = []
      let wake = (): void => {}
      let end: { readonly error: unknown } | 'sampled' | undefined
      const finish = (how: NonNullable<typeof end>): void => {
        end ??= how
        wake()
      }
      const abort = (): void => finish({ error: signal.reason })
      signal.addEventListener('abort', abort)
      const forget = loads.expect(checkpoint, (error) => finish({ error }))
      const started = sampling.start((id) => ({ type: 'sample', id, job }), {
        onMessage: (from) => {
          if (from.type === 'tokens') {
            received.push(...from.tokens)
            wake()
          }
          if (from.type === 'failed') finish({ error: deserializedError(from.error) })
          if (from.type === 'sampled') finish('sampled')
        },
        onLost: (error) => finish({ error }),
      })
      try {
        for (;;) {
          yield* received.splice(0)
          if (received.length > 0) continue
          if (end === 'sampled') return
          if (end !== undefined) throw end.error
          await new Promise<void>((resolve) => (wake = resolve))
        }
      } finally {
        signal.removeEventListener('abort', abort)
        forget()
        started.close()
        if (end !== 'sampled') started.send({ type: 'cancel', id: started.id })
      }
    },
    stop: async () => {
      await Promise.all([training.stop(), sampling.stop()])
    },
  }
}

interface ExpectedLoad {
  readonly load: () => Promise<Uint8Array>
  readonly fail: (error: unknown) => void
}

/** Loads checkpoints for the sampling thread, each once for all requests that need it. */
const checkpointLoads = () => {
  const expected = new Map<string, Set<ExpectedLoad>>()
  return {
    /** Returns what ends the expectation. */
    expect: (checkpoint: SampleRequest['checkpoint'], fail: (error: unknown) => void): (() => void) => {
      if (checkpoint === null) return () => {}
      const { key, load } = checkpoint
      const ofKey = expected.get(key) ?? new Set()
      expected.set(key, ofKey)
      const added = { load, fail }
      ofKey.add(added)
      return () => {
        ofKey.delete(added)
        if (ofKey.size === 0 && expected.get(key) === ofKey) expected.delete(key)
      }
    },
    answer: (key: string, answer: (message: ToThread) => void): void => {
      const first = expected.get(key)?.values().next().value
      if (first === undefined) return
      first.load().then(
        (bytes) => answer({ type: 'loaded', key, bytes: Uint8Array.from(bytes) }),
        (error: unknown) => {
          answer({ type: 'load_failed', key, error: serializedError(error) })
          for (const { fail } of expected.get(key) ?? []) fail(error)
        },
      )
    },
  }
}

/** A copy that can be posted: a view of a larger buffer would take all of that with it. */
const posted = <Job extends { readonly checkpoint: Uint8Array | null }>(job: Job): Job => ({
  ...job,
  checkpoint: job.checkpoint === null ? null : Uint8Array.from(job.checkpoint),
})
