import { setMaxListeners } from 'node:events'
import { join } from 'node:path'
import { fileSnapshots } from '../adapters/snapshots/file-snapshots.js'
import { openCollections } from '../application/artifacts/collections.js'
import { openRuns } from '../application/runs/runs.js'
import { openTrainedModels } from '../application/training/trained-models.js'
import type { Training } from '../application/training/services.js'
import { startJobIndex } from '../application/training/job-index.js'
import { trainingLeases } from '../application/training/leases.js'
import type { Config } from '../config.js'
import { startBuiltInWorker } from '../dispatch/training/built-in-worker.js'
import { startReaper } from '../dispatch/training/reaper.js'
import { startRunMetrics } from '../dispatch/training/run-metrics.js'
import { startEngine, type Engine } from '../engine/engine.js'
import { promptTokens } from '../engine/tokens.js'
import { BASE_MODELS } from '../engine/shape.js'
import type { Log } from '../kernel/ports/log.js'
import type { Ports } from '../kernel/ports/ports.js'

export interface OpenTraining {
  readonly training: Training
  readonly engine: Engine
  /** Samples a token. Says why that fails. */
  readonly engineFails: () => Promise<string | undefined>
  /** Begins to work on jobs, where this process has the role of the dispatcher. */
  readonly startWork: () => Promise<void>
  /** Called when the service begins to stop: answers workers that wait for a job. */
  readonly hurry: () => void
  /** Jobs of the engine that run go on after the next start. */
  readonly stop: () => Promise<void>
}

/** Models with jobs, and workers; it may be deleted while the service is stopped. */
const STATE_FILE = 'training.json'
/** The place in the log up to which metrics were logged to runs; it may be deleted while the service is stopped. */
const METRICS_FILE = 'training-metrics.json'

export const openTraining = async (
  { dataDirectory, eventStoreUrl }: Pick<Config, 'dataDirectory' | 'eventStoreUrl'>,
  ports: Ports & { readonly log: Log },
): Promise<OpenTraining> => {
  const models = openTrainedModels(ports)
  const collections = openCollections(ports)
  const snapshots = (file: string) => fileSnapshots(join(dataDirectory, file))
  const index = await startJobIndex({ ...ports, snapshots: snapshots(STATE_FILE) })
  const work = trainingLeases(ports, { models, collections, index })
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const training = {
    models,
    collections,
    index,
    work,
    builtIn: new Set(Object.keys(BASE_MODELS)),
    stopping: stopping.signal,
  }
  const engine = startEngine()
  const isAlone = eventStoreUrl === null
  const stops: (() => Promise<void>)[] = []
  return {
    training,
    engine,
    engineFails: () => engineFails(engine),
    startWork: async () => {
      const runs = openRuns(ports)
      stops.push(await startRunMetrics({ ...ports, snapshots: snapshots(METRICS_FILE) }, { runs, models }))
      const name = isAlone ? 'built-in' : `built-in/${ports.ids.next()}`
      stops.push(startBuiltInWorker(ports, training, engine, { name }), startReaper(ports, training, name))
    },
    hurry: () => stopping.abort(),
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()))
      await engine.stop()
      await index.stop()
    },
  }
}

const CHECK_WITHIN_MS = 10_000

const engineFails = async (engine: Engine): Promise<string | undefined> => {
  const [baseModel = ''] = Object.keys(BASE_MODELS)
  const options = { temperature: 0, topP: 1, seed: 1, maxTokens: 1 }
  const prompt = promptTokens([{ role: 'user', content: '?' }])
  const request = { checkpoint: null, baseModel, prompt, options, choices: 1 }
  try {
    const sampled = engine.sample(request, AbortSignal.timeout(CHECK_WITHIN_MS))[Symbol.asyncIterator]()
    const { done } = await sampled.next()
    await sampled.return?.()
    return done === true ? 'the engine samples nothing' : undefined
  } catch (error) {
    return `the engine does not answer: ${error instanceof Error ? error.message : typeof error}`
  }
}
