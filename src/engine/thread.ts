import { parentPort } from 'node:worker_threads'
import { serializedError } from './errors.js'
import type { FromThread, Metrics, ToThread } from './protocol.js'
import { samplingJobs } from './sampling-jobs.js'
import { runRl, runSft, type TrainedCheckpoint } from './train-job.js'

/** The entry of the threads: the service sends training to one of them and sampling to another. */

const port = parentPort!
const post = (message: FromThread): void => port.postMessage(message)
const sampling = samplingJobs(post)

type Run<Job> = (job: Job, onStep: (metrics: Metrics) => void, beforeBatch: () => void) => TrainedCheckpoint

const train = <Job>(run: Run<Job>, id: number, job: Job, cancelled: Int32Array): void => {
  const stopIfCancelled = (): void => {
    if (Atomics.load(cancelled, 0) !== 0) throw new Error('The job was cancelled.')
  }
  try {
    stopIfCancelled()
    const trained = run(job, (metrics) => post({ type: 'step', id, metrics }), stopIfCancelled)
    post({ type: 'trained', id, ...trained })
  } catch (error) {
    post({ type: 'failed', id, error: serializedError(error) })
  }
}

const receive = (message: ToThread): void => {
  switch (message.type) {
    case 'sft':
      train(runSft, message.id, message.job, message.cancelled)
      return
    case 'rl':
      train(runRl, message.id, message.job, message.cancelled)
      return
    case 'sample':
      sampling.start(message.id, message.job)
      return
    case 'cancel':
      sampling.cancel(message.id)
      return
    case 'loaded':
      sampling.loaded(message.key, message.bytes)
      return
    case 'load_failed':
      sampling.loadFailed(message.key, message.error)
  }
}

port.on('message', receive)
