import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { SendOptions } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'

export const EVALUATION = 'weave:///team/p/object/capitals:v0'
export const MODEL = 'weave:///team/p/object/guesser:v0'

export const scorerRef = (name: string): string => `weave:///team/p/object/${name}:v0`

/** Requests to the endpoints of one project. */
export const evaluationsOf = (service: TestService, project: string) => {
  const at = (path: string) => `/v2/${project}/${path}`
  const post = async (path: string, body: object, options?: SendOptions) =>
    accepted(await service.post(at(path), body, options))
  const get = async (path: string) => accepted(await service.send('GET', at(path)))
  return {
    at,
    post,
    get,
    lines: async (path: string): Promise<readonly JsonObject[]> =>
      (await service.send('GET', at(path))).text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as JsonObject),
    remove: async (path: string) => accepted(await service.send('DELETE', at(path))),
    startRun: async (more: object = {}) =>
      (await post('evaluation_runs', { evaluation: EVALUATION, model: MODEL, ...more }))[
        'evaluation_run_id'
      ] as string,
    predict: async (evaluation_run_id: string | null, inputs: object, output: unknown) =>
      (await post('predictions', { model: MODEL, inputs, output, evaluation_run_id }))[
        'prediction_id'
      ] as string,
    score: async (prediction_id: string, scorer: string, value: unknown) =>
      (await post('scores', { prediction_id, scorer: scorerRef(scorer), value }))['score_id'] as string,
  }
}
