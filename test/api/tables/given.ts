import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted, textIn } from '../calls/given.js'

export interface ReadRow {
  readonly digest: string
  readonly val: JsonObject
  readonly original_index: number
}

export interface Created {
  readonly digest: string
  readonly row_digests: readonly string[]
}

export const createTable = async (
  service: TestService,
  project_id: string,
  rows: readonly Json[],
): Promise<Created> => {
  const body = await service.in(project_id).tables.create(rows).json()
  assert.deepEqual(Object.keys(body), ['digest', 'row_digests'])
  return body
}

export const updateTable = async (
  service: TestService,
  project_id: string,
  base_digest: string,
  updates: readonly unknown[],
) => {
  const body = await service.in(project_id).tables.update({ base_digest, updates }).json()
  return { digest: textIn(body, 'digest'), updated: body['updated_row_digests'] as readonly string[] }
}

/** The rows of a table, asked for in both ways, which must say the same. */
export const rowsOf = async (
  service: TestService,
  project_id: string,
  digest: string,
  question: object = {},
): Promise<readonly ReadRow[]> => {
  const body = { project_id, digest, ...question }
  const { rows } = accepted(await service.post('/table/query', body)) as unknown as { rows: ReadRow[] }
  const streamed = await service.post('/table/query_stream', body)
  assert.equal(streamed.status, 200)
  assert.match(streamed.headers.get('content-type') ?? '', /^application\/jsonl/)
  const lines = streamed.text.split('\n')
  assert.equal(lines.pop(), '')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as ReadRow),
    rows,
  )
  return rows
}
