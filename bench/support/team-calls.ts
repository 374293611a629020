import { randomUUID } from 'node:crypto'

export interface Client {
  readonly address: string
  readonly key: string
}

/** The status, how long it took in ms, and the body. */
export const post = async ({ address, key }: Client, path: string, body: object) => {
  const began = performance.now()
  const response = await fetch(`${address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, ms: performance.now() - began, text }
}

export const callBatch = (client: Client, team: string, calls: number) => {
  const now = Date.now()
  const batch = Array.from({ length: calls }, (_, n) => {
    const id = randomUUID()
    const at = new Date(now - calls + n).toISOString()
    const call = { project_id: `${team}/p`, id, trace_id: id, op_name: 'op', started_at: at, ended_at: at }
    return {
      ...call,
      attributes: {},
      inputs: { text: 'The quick brown fox. '.repeat(20) },
      output: 'a dog',
      summary: {},
    }
  })
  return post(client, `/v2/${team}/p/calls/complete`, { batch })
}

export const listCalls = (client: Client, team: string) =>
  post(client, '/calls/query', {
    project_id: `${team}/p`,
    limit: 50,
    sort_by: [{ field: 'started_at', direction: 'desc' }],
  })
