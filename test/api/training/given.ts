import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Client } from '../../support/client.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { until } from '../../support/until.js'
import { accepted } from '../calls/given.js'
import { put } from '../wandb/given.js'

type Requests = Pick<Client, 'post' | 'send'>

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
export const trainingClientOf = (service: Requests, project: string, options: object = {}) => {
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

export const md5 = (content: string) => createHash('md5').update(content).digest('hex')

export interface ClaimedJob {
  readonly id: string
  readonly step: number
  readonly lease_id: string
  readonly input_url: string
  readonly config: JsonObject
  readonly from: {
    readonly step: number
    readonly files: readonly { readonly path: string; readonly url: string }[]
  } | null
}

/** A worker elsewhere, in its requests. */
export const workerOf = (service: Requests, baseModel: string, name = 'worker') => {
  const post = (path: string, body: object) => service.post(`/v1/preview${path}`, body)
  const claim = async (wait_seconds = 0): Promise<ClaimedJob | null> =>
    accepted(await post('/workers/claim', { worker: name, base_models: [baseModel], wait_seconds }))[
      'job'
    ] as unknown as ClaimedJob | null
  const of = ({ id, lease_id }: Pick<ClaimedJob, 'id' | 'lease_id'>) => ({
    heartbeat: async () => accepted(await post(`/training-jobs/${id}/heartbeat`, { lease_id })),
    reports: (first: number, reports: readonly object[]) =>
      post(`/training-jobs/${id}/reports`, { lease_id, first, reports }),
    files: (files: readonly object[]) => post(`/training-jobs/${id}/files`, { lease_id, files }),
    upload: async (files: Readonly<Record<string, string>>) => {
      const named = Object.entries(files).map(([path, content]) => ({ path, md5: md5(content) }))
      const links = accepted(await post(`/training-jobs/${id}/files`, { lease_id, files: named }))
      for (const { path, upload_url } of links['files'] as unknown as {
        path: string
        upload_url: string | null
      }[])
        if (upload_url !== null) assert.equal((await put(upload_url, files[path]!)).status, 200)
      return named
    },
    complete: (files: readonly object[], metrics: object = {}) =>
      post(`/training-jobs/${id}/complete`, { lease_id, files, metrics }),
    fail: (error_message: string) => post(`/training-jobs/${id}/fail`, { lease_id, error_message }),
  })
  return { claim, of }
}
