import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { put } from '../wandb/given.js'

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
export const workerOf = (
  service: Pick<TestService, 'post'>,
  baseModel: string,
  { name = 'worker', ...options }: { readonly key?: string; readonly name?: string } = {},
) => {
  const post = (path: string, body: object) => service.post(`/v1/preview${path}`, body, options)
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
