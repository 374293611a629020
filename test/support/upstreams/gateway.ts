import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { SpilledFields } from '../../../src/kernel/spill/fields.js'
import type { Answered, SendOptions } from '../client.js'
import type { TestService } from '../service.js'
import { saying } from './behaviours.js'
import { startUpstream, type ScriptedUpstream } from './upstream.js'

/** A completion as it stands in the log, as far as tests look at it. */
export interface Completion {
  readonly id: string
  readonly trace_id: string
  readonly parent_id: string | null
  readonly inputs: JsonObject
  readonly output: JsonObject | null
  readonly exception: string | null
  readonly ended_at?: string
  readonly spilled: SpilledFields
  readonly attributes: { readonly tallytree: JsonObject }
  readonly summary: {
    readonly usage?: Readonly<Record<string, JsonObject>>
    readonly tallytree?: JsonObject & { readonly metering: string }
  }
}

/** A service with one scripted upstream, which serves one model of its own. */
export interface Gateway {
  readonly service: TestService
  readonly upstream: ScriptedUpstream
  readonly model: string
  /** Sends a completion request for the model. */
  readonly complete: (more?: object, options?: SendOptions) => Promise<Answered>
  /** The completions of a project that have ended, in the log, once there are so many of them. */
  readonly ended: (project: string, count?: number) => Promise<readonly Completion[]>
}

export const MESSAGES = [{ role: 'user', content: 'Say hello' }]

export const startGateway = async (
  service: TestService,
  more: { readonly id?: string; readonly upstream?: object } = {},
): Promise<Gateway> => {
  const upstream = await startUpstream(saying(['Hello', ', ', 'world']))
  const name = `scripted-${randomUUID().slice(0, 8)}`
  const model = more.id ?? `acme/${name}`
  const made = await service.post('/api/inference/upstreams', {
    name,
    base_url: upstream.baseUrl,
    models: [{ id: model, upstream_id: 'chat-1' }],
    ...more.upstream,
  })
  assert.equal(made.status, 200, made.text)

  const from = await service.stores.eventStore.head()

  const inLog = async (project: string): Promise<readonly Completion[]> => {
    const calls = new Map<string, object>()
    for await (const { type, data } of service.stores.eventStore.readAll({ after: from }))
      if (data['project_id'] === project && (type === 'CallStarted' || type === 'CallEnded'))
        calls.set(data['id'] as string, { ...calls.get(data['id'] as string), ...data })
    return [...calls.values()] as Completion[]
  }
  return {
    service,
    upstream,
    model,
    complete: (body = {}, options = {}) =>
      service.post('/v1/chat/completions', { model, messages: MESSAGES, ...body }, options),
    ended: async (project, count = 1) => {
      for (;;) {
        const calls = (await inLog(project)).filter(({ ended_at }) => ended_at !== undefined)
        if (calls.length >= count) return calls
        await sleep(10)
      }
    },
  }
}

/** The data of the events of a stream, in order. */
export const eventsIn = (text: string): readonly string[] => {
  const events = text.split('\n\n')
  assert.equal(events.pop(), '', 'the last event is whole')
  return events.map((event) => {
    assert.match(event, /^data: [^\n]*$/)
    return event.slice('data: '.length)
  })
}

/** The chunks of a stream that ended with `[DONE]`. */
export const chunksIn = (text: string): readonly JsonObject[] => {
  const events = eventsIn(text)
  assert.equal(events.at(-1), '[DONE]')
  return events.slice(0, -1).map((event) => JSON.parse(event) as JsonObject)
}
