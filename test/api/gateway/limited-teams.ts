import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Answered, SendOptions } from '../../support/client.js'
import { startTestService, type TestService } from '../../support/service.js'
import { saying, usageOf } from '../../support/upstreams/behaviours.js'
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/upstream.js'

const MODEL = 'priced/chat'
export const PRICE = { prompt_token_cost: '0.001', completion_token_cost: '0.01' }

export interface ToldError {
  readonly message: string
  readonly type: string
  readonly code: string
}

export interface Shown {
  readonly scope: JsonObject
  readonly used: {
    readonly requests: number
    readonly tokens: number
    readonly running: number
    readonly budget: { readonly spent: number; readonly reserved: number; readonly unknown: number } | null
  }
}

export interface LimitedTeam {
  readonly team: string
  readonly key: string
}

/** A service with an upstream that has a price, and teams whose limits are set. */
export const startLimitedTeams = async () => {
  const service: TestService = await startTestService()
  const upstream: ScriptedUpstream = await startUpstream(saying(['Hi'], usageOf(5, 2)))
  const made = await service.post('/api/inference/upstreams', {
    name: 'priced',
    base_url: upstream.baseUrl,
    models: [{ id: MODEL, upstream_id: 'chat', price: PRICE }],
  })
  assert.equal(made.status, 200, made.text)
  return {
    service,
    upstream,

    /** A team with one member, and the member's key. */
    aTeam: async (): Promise<LimitedTeam> => {
      const team = `team-${randomUUID().slice(0, 8)}`
      await service.teams.create(team)
      return { team, key: await service.teams.keyOf(team, `user-of-${team}`, 'team_administrator') }
    },

    limit: async ({ team, key }: LimitedTeam, body: object): Promise<Answered> =>
      service.send('PUT', `/api/teams/${team}/limits`, body, { key }),

    shown: async ({ team, key }: LimitedTeam): Promise<readonly Shown[]> =>
      (await service.send('GET', `/api/teams/${team}/limits`, undefined, { key })).json<{ data: Shown[] }>()
        .data,

    complete: ({ team, key }: LimitedTeam, body: object = {}, options: SendOptions = {}): Promise<Answered> =>
      service.post(
        '/v1/chat/completions',
        { model: MODEL, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 10, ...body },
        { key, headers: { 'openai-project': `${team}/inference` }, ...options },
      ),

    keyIdOf: async ({ key }: LimitedTeam): Promise<string> => {
      const listed = await service.send('GET', '/api/users/me/api-keys', undefined, { key })
      return listed.json<{ data: { id: string }[] }>().data[0]!.id
    },

    stop: async (): Promise<void> => {
      await service.stop()
      await upstream.close()
    },
  }
}

export type LimitedTeams = Awaited<ReturnType<typeof startLimitedTeams>>
