import assert from 'node:assert/strict'
import type { CompletedCall, EndedCall, StartedCall } from '../../src/api/calls/client-call.js'
import type { CallsQuery } from '../../src/api/calls/query-codecs.js'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { whenReadable } from './asking-again.js'
import { aCompleted, anEnd, aStart, endItem, startItem } from './call-requests.js'

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; throws where it is none. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller says what it expects
  readonly json: <T = JsonObject>() => T
}

export interface SendOptions {
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

type Send = (method: string, path: string, body?: unknown, options?: SendOptions) => Promise<Answered>
type Post = <Body>(path: string, body: object) => Reply<Body>

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers as they come; the assertion is the check
type Loose = any
type LooseObject = Readonly<Record<string, Loose>>

/** Awaited as it is, the response; `json` and `lines` expect a 200 and give its body. */
export interface Reply<Body = Loose> extends Promise<Answered> {
  readonly json: () => Promise<Body>
  readonly lines: () => Promise<readonly LooseObject[]>
}

/** The fields are checked, the values are free: tests also send invalid ones. */
type Fields<Request> = { readonly [Field in keyof Request]?: unknown }

type BatchItem = { readonly start: Fields<StartedCall> } | { readonly end: Fields<EndedCall & StartedCall> }

export interface Client extends ReturnType<typeof resourcesOf> {
  /** Sends JSON, or a string as it is. */
  readonly send: Send
  readonly post: (path: string, body: unknown, options?: SendOptions) => Promise<Answered>
  /** The client whose requests name this project unless they name another. */
  readonly in: (project: string) => Client
  /** The client with another key or with more headers. */
  readonly with: (options?: SendOptions) => Client
}

export const clientOf = (send: Send, project = 'default/project'): Client => ({
  send,
  post: (path, body, options) => send('POST', path, body, options),
  in: (other) => clientOf(send, other),
  with: (fixed) =>
    clientOf((method, path, body, options) => {
      const headers = { ...fixed?.headers, ...options?.headers }
      return send(method, path, body, { ...fixed, ...options, headers })
    }, project),
  ...resourcesOf((path, body) => replyOf(send('POST', path, body)), project),
})

const resourcesOf = (post: Post, project: string) => {
  const to =
    <Body = Loose, Request = LooseObject>(path: string) =>
    (body: Fields<Request> = {}) =>
      post<Body>(path, { project_id: project, ...body })

  const query = to<{ readonly calls: readonly LooseObject[] }, CallsQuery>('/calls/query')
  return {
    calls: {
      start: (start: Fields<StartedCall> = {}) =>
        post<{ id: string; trace_id: string }>('/call/start', { start: aStart(project, start) }),
      end: (id: string, end: Fields<EndedCall & StartedCall> = {}) =>
        post('/call/end', { end: anEnd(project, id, end) }),
      batch: (items: readonly BatchItem[]) => {
        const batch = items.map((item) =>
          'start' in item ? startItem(aStart(project, item.start)) : endItem(anEnd(project, '', item.end)),
        )
        return post<{ readonly res: readonly LooseObject[] }>('/call/upsert_batch', { batch })
      },
      complete: (calls: readonly Fields<CompletedCall>[]) =>
        post(`/v2/${project}/calls/complete`, { batch: calls.map((call) => aCompleted(project, call)) }),
      /** A call as a client reads it, null for none. */
      read: async (id: string, more: object = {}): Promise<Loose> =>
        (await post<LooseObject>('/call/read', { project_id: project, id, ...more }).json()).call,
      query,
      /** The ids of the calls that a query answers, in its order. */
      ids: async (body?: Fields<CallsQuery>): Promise<readonly string[]> =>
        (await query(body).json()).calls.map(({ id }) => id as string),
      stream: to<never, CallsQuery>('/calls/stream_query'),
      count: to('/calls/query_stats'),
      stats: to('/calls/stats'),
      usage: to('/calls/usage'),
      update: (call_id: string, more: object) => to('/call/update')({ call_id, ...more }),
      delete: (...call_ids: readonly string[]) =>
        to<{ readonly num_deleted: number }>('/calls/delete')({ call_ids }),
    },
    usage: { ofTraces: to('/trace/usage'), query: to('/usage/query') },
    costs: { create: to('/cost/create'), query: to('/cost/query'), purge: to('/cost/purge') },
    feedback: {
      create: to('/feedback/create'),
      query: to<{ readonly result: readonly LooseObject[] }>('/feedback/query'),
      purge: to('/feedback/purge'),
      replace: to('/feedback/replace'),
    },
    objects: {
      create: (object_id: string, val: unknown, more: object = {}) =>
        post<{ readonly digest: string }>('/obj/create', {
          obj: { project_id: project, object_id, val, ...more },
        }),
      /** Creates an object and gives its reference. */
      publish: async (object_id: string, val: unknown): Promise<string> => {
        const obj = { project_id: project, object_id, val }
        const { digest } = await post<{ readonly digest: string }>('/obj/create', { obj }).json()
        return `weave:///${project}/object/${object_id}:${digest}`
      },
      read: to('/obj/read'),
      query: to<{ readonly objs: readonly LooseObject[] }>('/objs/query'),
      delete: to('/obj/delete'),
    },
    tables: {
      create: (rows: readonly unknown[]) =>
        post<{ readonly digest: string; readonly row_digests: readonly string[] }>('/table/create', {
          table: { project_id: project, rows },
        }),
      update: to('/table/update'),
      query: to('/table/query'),
    },
    evaluations: {
      rescore: to('/evaluations/rescore'),
      status: to('/evaluations/status'),
      cancel: to('/evaluations/cancel'),
      evaluateModel: to('/evaluations/evaluate_model'),
    },
    /** Annotation queues; a path is what follows `/annotation_queues`. */
    queues: {
      post: (path: string, body: object = {}) => to(`/annotation_queues${path}`)(body),
      /** Creates a queue and gives its id. */
      create: async (name: string, more: object = {}): Promise<string> =>
        (await to<{ id: string }>('/annotation_queues')({ name, scorer_refs: [], ...more }).json()).id,
      add: (queue: string, ...call_ids: readonly string[]) =>
        to(`/annotation_queues/${queue}/items`)({ call_ids, display_fields: ['inputs.a'] }),
      items: async (queue: string, more: object = {}): Promise<readonly LooseObject[]> =>
        (await to(`/annotation_queues/${queue}/items/query`)(more).json()).items,
    },
    threads: to('/threads/stream_query'),
    /** The value of each reference. */
    refs: async (refs: readonly string[]): Promise<readonly unknown[]> =>
      (await post<{ readonly vals: readonly unknown[] }>('/refs/read_batch', { refs }).json()).vals,
    teams: {
      create: (name: string) => post('/api/teams', { name }),
      /** Adds a user to a team and gives the user's key. */
      keyOf: async (team: string, user: string, role: string | readonly string[]): Promise<string> => {
        const roles = typeof role === 'string' ? { role } : { roles: role }
        return (await post<{ api_key: string }>(`/api/teams/${team}/members`, { user, ...roles }).json())
          .api_key
      },
    },
  }
}

const replyOf = <Body>(answering: Promise<Answered>): Reply<Body> => {
  const accepted = async () => {
    const answer = await answering
    assert.equal(answer.status, 200, answer.text.slice(0, 300))
    return answer
  }
  return Object.assign(answering, {
    json: async () => (await accepted()).json<Body>(),
    lines: async () => {
      const lines = (await accepted()).text.split('\n')
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LooseObject)
    },
  })
}

/** No log of a test comes that far: who asks for it wants to hear that it is not there. */
const FAR = 10_000_000

const askingAgain =
  (send: Send): Send =>
  (method, path, body, options) => {
    const once = () => send(method, path, body, options)
    const isFar = Number(options?.headers?.['Tallytree-Min-Position']) >= FAR
    return isFar ? once() : whenReadable(once, ({ text }) => text)
  }

/** Requests by HTTP with this key unless they name another, repeated while the read models lag. */
export const senderTo = (address: string, ownKey: string): Send =>
  askingAgain(async (method, path, body, { key = ownKey, headers = {}, signal } = {}) => {
    const response = await fetch(`${address}${path}`, {
      method,
      ...(signal === undefined ? {} : { signal }),
      headers: {
        ...(key === null ? {} : { authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
  })
