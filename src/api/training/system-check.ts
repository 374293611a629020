import { setTimeout as sleep } from 'node:timers/promises'
import type { Training } from '../../application/training/services.js'
import { nullable } from '../../kernel/codec/containers.js'
import { boolean, int64, number, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { answering, type AnyRoute } from '../server/route.js'
import { openRoute } from '../server/route-kinds.js'
import type { HealthChecks } from '../service/health.js'

export interface SystemChecks extends Pick<
  HealthChecks,
  'readsFail' | 'writesBlocked' | 'writesFail' | 'engineFails'
> {
  readonly training: Pick<Training, 'index' | 'builtIn'>
}

const checkFields = {
  required: { success: boolean, duration_ms: number },
  optional: { error: nullable(string) },
}
const check = open('SystemCheckPart', checkFields)
const queueCheck = open('SystemCheckQueue', {
  says: 'The number of queued and running jobs, and of registered workers.',
  required: { ...checkFields.required, queued: int64, running: int64 },
  optional: { ...checkFields.optional, workers: nullable(int64) },
})

const systemCheck = open('SystemCheck', {
  says: '`cpu_queue` are the jobs of the built-in engine, `gpu_queue` those of other workers.',
  required: {
    api: boolean,
    database: check,
    read_models: check,
    cpu_queue: queueCheck,
    gpu_queue: queueCheck,
  },
})

/** The route needs no key, so requests to it must not cause work each. */
const CHECK_EVERY_MS = 1000

const timed = async (failing: () => Promise<string | undefined>) => {
  const began = performance.now()
  const error = (await failing()) ?? null
  return { success: error === null, duration_ms: Math.round(performance.now() - began), error }
}

/** Whether each part works; 503 if one does not. */
export const systemCheckRoute = (services: SystemChecks): AnyRoute => {
  const { training, engineFails, writesBlocked, writesFail, readsFail } = services

  const queue = (isBuiltIn: boolean) => {
    const models = training.index.queues().filter((one) => training.builtIn.has(one.base_model) === isBuiltIn)
    return {
      queued: models.reduce((sum, { queued }) => sum + queued.length, 0),
      running: models.filter(({ lease }) => lease !== null).length,
    }
  }

  /** Jobs are found by an index that follows the log. */
  const indexFails = () => (training.index.isCaughtUp() ? undefined : 'the index of jobs reads the log')

  const look = async () => {
    const [database, read_models, cpu, gpu] = await Promise.all([
      timed(async () => (await writesBlocked()) ?? writesFail()),
      timed(() => Promise.resolve(readsFail())),
      timed(async () => indexFails() ?? (await engineFails())),
      timed(() => Promise.resolve(indexFails())),
    ])
    const body = {
      api: true,
      database,
      read_models,
      cpu_queue: { ...cpu, ...queue(true), workers: null },
      gpu_queue: { ...gpu, ...queue(false), workers: training.index.workers().length },
    }
    const isWell = [database, read_models, cpu, gpu].every(({ success }) => success)
    return isWell ? { body } : { status: 503, body, headers: { 'Retry-After': '1' } }
  }

  let looking: ReturnType<typeof look> | undefined
  return openRoute({
    method: 'get',
    path: '/v1/system-check',
    summary: 'Checks the event log, the read models, the queues and the engine; 503 if one fails.',
    response: answering(systemCheck, {
      otherStatuses: {
        503: { says: 'A check failed.', schema: systemCheck.schema, headers: ['Retry-After'] },
      },
    }),
    handle: () => {
      if (looking === undefined) {
        looking = look()
        void looking
          .then(() => sleep(CHECK_EVERY_MS, undefined, { ref: false }))
          .finally(() => (looking = undefined))
      }
      return looking
    },
  })
}
