import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Answered } from '../../support/client.js'
import type { TestService } from '../../support/service.js'

export const UPSTREAMS = '/api/inference/upstreams'

export const anUpstream = (more: object = {}) => ({
  name: 'one',
  base_url: 'https://models.example/v1',
  models: [{ id: 'chat', upstream_id: 'chat-1' }],
  ...more,
})

/** A completion asked for with a team's key, in a project of the team. */
export const complete = (
  service: TestService,
  key: string,
  project: string,
  more: JsonObject = {},
): Promise<Answered> =>
  service.post(
    '/v1/chat/completions',
    { model: 'chat', messages: [{ role: 'user', content: 'hello' }], ...more },
    { key, headers: { 'openai-project': project } },
  )

interface StoredCall {
  readonly exception: string | null
  readonly attributes: { readonly tallytree: JsonObject }
  readonly summary: {
    readonly tallytree: { readonly tries: readonly { upstream: string; outcome: string }[] }
  } & JsonObject
}

/** The calls of a project, the first first. */
export const callsOf = async (service: TestService, project: string, more: JsonObject = {}) =>
  (
    await service.in(project).calls.query({ sort_by: [{ field: 'started_at', direction: 'asc' }], ...more })
  ).json<{ calls: readonly StoredCall[] }>().calls

/** `upstream: outcome` of each try of a call. */
export const triesOf = ({ summary }: StoredCall): readonly string[] =>
  summary.tallytree.tries.map(({ upstream, outcome }) => `${upstream}: ${outcome}`)

/** They name their team in the body or the query, or are named by id. */
export const OF_UPSTREAMS = [
  'POST /api/inference/upstreams',
  'POST /api/inference/upstreams/test',
  'GET /api/inference/upstreams',
  'GET /api/inference/upstreams/{id}',
  'PATCH /api/inference/upstreams/{id}',
  'DELETE /api/inference/upstreams/{id}',
]
