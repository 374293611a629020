import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../../src/domain/json/json.js'

/** Sends what the Python SDK sends: JSON as bytes without a content type, and forms, under Basic authentication. */
export interface PythonClient {
  /** The body of an answer that must be 200. */
  readonly post: <T = JsonObject>(path: string, body: JsonObject) => Promise<T>
  /** One object a line, as `/calls/stream_query` answers. */
  readonly lines: (path: string, body: JsonObject) => Promise<readonly JsonObject[]>
  readonly content: (path: string, body: JsonObject) => Promise<Buffer>
  /** A file in a form; `partType` is the content type of its part, which one HTTP library of Python gives and one does not. */
  readonly upload: (
    project_id: string,
    name: string,
    content: string,
    partType?: string,
  ) => Promise<JsonObject>
}

/** More than the SDK makes while the service asks it to try again: the machine of a test may be slower than its users'. */
const ATTEMPTS = 30
const BOUNDARY = '0123456789abcdef0123456789abcdef'

export const pythonClient = (address: string, key: string): PythonClient => {
  let retryId = 0
  const send = async (path: string, body: Buffer, contentType?: string, attempt = 1): Promise<Buffer> => {
    const response = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
        'user-agent': 'python-httpx/0.28.1',
        'x-weave-retry-id': `0197-retry-${(retryId += 1)}`,
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
      },
      body,
    })
    const answered = Buffer.from(await response.arrayBuffer())
    if (response.status === 503 && attempt < ATTEMPTS) {
      await sleep(1000)
      return send(path, body, contentType, attempt + 1)
    }
    assert.equal(response.status, 200, `${path}: ${answered.toString('utf8').slice(0, 500)}`)
    return answered
  }
  const sendJson = (path: string, body: JsonObject) => send(path, Buffer.from(JSON.stringify(body)))

  return {
    post: async <T>(path: string, body: JsonObject) =>
      JSON.parse((await sendJson(path, body)).toString('utf8')) as T,
    lines: async (path, body) =>
      (await sendJson(path, body))
        .toString('utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as JsonObject),
    content: sendJson,
    upload: async (project_id, name, content, partType) => {
      const form =
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="project_id"\r\n\r\n${project_id}\r\n` +
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
        (partType === undefined ? '' : `Content-Type: ${partType}\r\n`) +
        `\r\n${content}\r\n--${BOUNDARY}--\r\n`
      const type = `multipart/form-data; boundary=${BOUNDARY}`
      return JSON.parse((await send('/files/create', Buffer.from(form), type)).toString('utf8')) as JsonObject
    },
  }
}

/** As `datetime.now(timezone.utc)` is written: with microseconds. */
export const at = (second: number): string => `2026-01-01T12:00:${String(second).padStart(2, '0')}.123456Z`

/** A start with every optional key, null where it is not given. */
export const aStart = (project_id: string, more: JsonObject): JsonObject => ({
  project_id,
  display_name: null,
  parent_id: null,
  thread_id: null,
  turn_id: null,
  started_at: at(1),
  attributes: {
    weave: { client_version: '0.52.0', source: 'python-sdk', os_name: 'Linux', python_version: '3.12.1' },
  },
  inputs: {},
  otel_dump: null,
  wb_user_id: null,
  wb_run_id: null,
  wb_run_step: null,
  ...more,
})

/** An end with every optional key, those of newer clients too. */
export const anEnd = (project_id: string, more: JsonObject): JsonObject => ({
  project_id,
  trace_id: null,
  is_eval: null,
  started_at: null,
  ended_at: at(2),
  exception: null,
  output: null,
  summary: { status_counts: { success: 1, error: 0 } },
  wb_run_step_end: null,
  ...more,
})

/** What is asked of `/calls/stream_query`, every key of it. */
export const callsQuery = (project_id: string, filter: JsonObject | null = null): JsonObject => ({
  project_id,
  filter: filter && { ...NO_CALLS_FILTER, ...filter },
  limit: null,
  offset: null,
  latest_only: false,
  sort_by: [{ field: 'started_at', direction: 'asc' }],
  query: null,
  include_costs: false,
  include_feedback: false,
  include_storage_size: false,
  include_total_storage_size: false,
  include_usernames: false,
  columns: null,
  expand_columns: null,
  return_expanded_column_values: true,
})

const NO_CALLS_FILTER: JsonObject = {
  op_names: null,
  input_refs: null,
  output_refs: null,
  parent_ids: null,
  trace_ids: null,
  call_ids: null,
  thread_ids: null,
  turn_ids: null,
  trace_roots_only: null,
  wb_user_ids: null,
  wb_run_ids: null,
}

/** An object as it is published, with the keys that newer clients add. */
export const anObject = (project_id: string, object_id: string, val: JsonObject): JsonObject => ({
  obj: { project_id, object_id, val, builtin_object_class: null, expected_digest: null, wb_user_id: null },
})
