import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { until } from '../../support/until.js'
import { accepted } from '../calls/given.js'

interface JobEvent {
  readonly id: string
  readonly type: string
  readonly data: JsonObject
}

const MODEL = '/v1/preview/models/{model_id}'
const JOB = '/v1/preview/training-jobs/{job_id}'

/** Every endpoint of a model or a job. */
export const OF_TRAINING = [
  'POST /v1/preview/models',
  `DELETE ${MODEL}`,
  `GET ${MODEL}/checkpoints`,
  `DELETE ${MODEL}/checkpoints`,
  `POST ${MODEL}/log`,
  'POST /v1/preview/training-jobs',
  'POST /v1/preview/sft-training-jobs',
  `GET ${JOB}`,
  `GET ${JOB}/events`,
  `POST ${JOB}/cancel`,
  'POST /v1/preview/workers/claim',
  `POST ${JOB}/heartbeat`,
  `POST ${JOB}/reports`,
  `POST ${JOB}/files`,
  `POST ${JOB}/complete`,
  `POST ${JOB}/fail`,
]

const TUNING = '/v1/fine_tuning/jobs/{job_id}'

/** They name their project in a header: training/fine-tuning.test.ts. */
export const OF_FINE_TUNING = [
  'DELETE /v1/models/{id}',
  'POST /v1/files',
  'GET /v1/files',
  'GET /v1/files/{file_id}',
  'GET /v1/files/{file_id}/content',
  'DELETE /v1/files/{file_id}',
  'POST /v1/fine_tuning/jobs',
  'GET /v1/fine_tuning/jobs',
  `GET ${TUNING}`,
  `POST ${TUNING}/cancel`,
  `GET ${TUNING}/events`,
  `GET ${TUNING}/checkpoints`,
]

/** What clients of the training API do. */
export const trainingClientOf = (
  service: Pick<TestService, 'send' | 'post'>,
  project: string,
  options: object = {},
) => {
  const [entity, name] = project.split('/') as [string, string]
  const post = (path: string, body: object) => service.post(`/v1/preview${path}`, body, options)
  const get = async (path: string) =>
    accepted(await service.send('GET', `/v1/preview${path}`, undefined, options))

  const createModel = async (model: string, base_model = 'tiny/byte'): Promise<JsonObject> =>
    accepted(await post('/models', { entity, project: name, name: model, base_model, return_existing: true }))

  const events = async (job: string): Promise<readonly JobEvent[]> => {
    const all: JobEvent[] = []
    for (;;) {
      const after = all.length === 0 ? '' : `&after=${all.at(-1)!.id}`
      const { data, has_more } = await get(`/training-jobs/${job}/events?limit=100${after}`)
      all.push(...(data as unknown as readonly JobEvent[]))
      if (has_more !== true) return all
    }
  }

  /** Waits for the end of a job. Returns its events. */
  const ended = async (job: string): Promise<readonly JobEvent[]> => {
    let all: readonly JobEvent[] = []
    await until(async () => {
      all = await events(job)
      return ['training_ended', 'training_failed'].includes(all.at(-1)?.type ?? '')
    }, 60_000)
    return all
  }

  const createRl = async (model_id: string, trajectory_groups: readonly object[], config: object = {}) =>
    accepted(await post('/training-jobs', { model_id, trajectory_groups, experimental_config: config }))[
      'id'
    ] as string

  const steps = async (model: string): Promise<readonly number[]> => {
    const { data } = await get(`/models/${model}/checkpoints`)
    return (data as readonly { step: number }[]).map(({ step }) => step)
  }

  const chat = async (model: string, body: object = {}) => {
    const answer = await service.post(
      '/v1/chat/completions',
      { model, messages: [{ role: 'user', content: 'hello' }], max_tokens: 8, ...body },
      options,
    )
    assert.equal(answer.status, 200, answer.text)
    return answer
  }
  return { post, get, createModel, createRl, events, ended, steps, chat }
}
