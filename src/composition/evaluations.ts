import { join } from 'node:path'
import { fileSnapshots } from '../adapters/snapshots/file-snapshots.js'
import { openAccess } from '../application/access/access.js'
import type { EvaluationServices } from '../application/evaluations/services.js'
import { throttleFor } from '../application/throttle.js'
import type { Config } from '../config.js'
import { startEvaluations, type Evaluations } from '../dispatch/evaluations/evaluations.js'
import { startOnlineEvaluation } from '../dispatch/evaluations/online.js'
import { completeForService } from '../gateway/completions/for-service.js'
import type { Log } from '../kernel/ports/log.js'
import type { Api } from './api.js'
import type { ReadSide } from './read-side.js'
import { startScoring } from './threaded-scoring.js'

/** Open runs and the position in the log; it may be deleted while the service is stopped. */
const STATE_FILE = 'evaluations.json'

/** The rules in force and the position in the log; it may be deleted while the service is stopped. */
const RULES_FILE = 'evaluation-rules.json'

type OfThisProcess = 'scoreBuiltIn' | 'readModels' | 'directory' | 'reading' | 'throttle' | 'askModel'

/** Works on evaluation runs and rules, where this process has the role of the dispatcher. */
export const openEvaluations = async (
  { dataDirectory, eventStoreUrl }: Pick<Config, 'dataDirectory' | 'eventStoreUrl'>,
  ports: Omit<EvaluationServices, OfThisProcess> & { readonly log: Log },
  readSide: ReadSide,
  /** Undefined in a process without the role `api`. */
  api: Pick<Api, 'services'> | undefined,
): Promise<Evaluations> => {
  const access = api?.services.access ?? (await openAccess(ports))
  const scoring = startScoring()
  const services: EvaluationServices = {
    ...ports,
    scoreBuiltIn: scoring.scoreBuiltIn,
    readModels: readSide,
    directory: access.directory,
    reading: api?.services.reading,
    throttle: throttleFor(readSide.lagging),
    askModel: api && completeForService(api.services, access.directory),
  }
  const snapshots = (file: string) => fileSnapshots(join(dataDirectory, file))
  const evaluations = await startEvaluations(
    { ...services, snapshots: snapshots(STATE_FILE) },
    { instance: ports.ids.next(), isAlone: eventStoreUrl === null },
  )
  const online = await startOnlineEvaluation({ ...services, snapshots: snapshots(RULES_FILE) })
  return {
    stop: async () => {
      await Promise.all([evaluations.stop(), online.stop()])
      await scoring.stop()
      if (api === undefined) access.close()
    },
  }
}
