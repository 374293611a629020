import { arrayOf } from '../../domain/codec/containers.js'
import { string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { Failure } from '../failure.js'
import { inBody } from '../authorization.js'
import type { AnyRoute } from '../route.js'
import { alsoReads, writeProject } from '../route-kinds.js'
import { digestedRows } from './digested-rows.js'
import { requireKnown } from './known-rows.js'
import { publishTable } from './publish.js'
import { rowDigestsOf } from './stored-table.js'
import type { Tables } from './tables.js'
import { applyUpdates } from './updates.js'
import { tableCreate, tableCreateFromDigests, tableUpdate } from './write-codecs.js'

/** Creates tables from rows, from stored rows, or by updating another table. */
export const tableWriteRoutes = (tables: Tables): readonly AnyRoute[] => {
  const { ports, reading, reader } = tables
  const publish = publishTable(ports)

  return [
    writeProject(tables, {
      method: 'post',
      path: '/table/create',
      summary: 'Create a table from rows. Identical rows give the same table.',
      body: tableCreate,
      errors: ['conflict'],
      response: open('TableCreateResponse', { required: { digest: string, row_digests: arrayOf(string) } }),
      project: ({ body }) => body.table.project_id,
      handle: async ({ body, project: projectId, principal: { userId } }) => {
        const { rows, expected_digest: expectedDigest } = body.table
        requireFew(rows)
        const { digests, contents } = await digestedRows(ports.sha256, rows)
        const table = { projectId, userId, rowDigests: digests, contents: contents.values(), expectedDigest }
        return async (cause) => {
          const { digest, position } = await publish(table, cause)
          return { body: { digest, row_digests: digests }, position }
        }
      },
    }),
    writeProject(tables, {
      method: 'post',
      path: '/table/create_from_digests',
      summary: 'Create a table from rows that are already stored in the project.',
      body: tableCreateFromDigests,
      ...alsoReads,
      errors: [...alsoReads.errors, 'conflict'],
      response: open('TableCreateFromDigestsResponse', { required: { digest: string } }),
      project: inBody,
      handle: async ({ body, project: projectId, principal: { userId }, headers }) => {
        const { row_digests: rowDigests, expected_digest: expectedDigest } = body
        const readable = await reading.waitForNow(projectId, headers)
        await requireKnown(reader, projectId, rowDigests, readable)
        return async (cause) => {
          const table = { projectId, userId, rowDigests, contents: [], expectedDigest }
          const { digest, position } = await publish(table, cause)
          return { body: { digest }, position }
        }
      },
    }),
    writeProject(tables, {
      method: 'post',
      path: '/table/update',
      summary: 'Create a table from another one by appending, inserting and removing rows.',
      body: tableUpdate,
      response: open('TableUpdateResponse', {
        required: { digest: string, updated_row_digests: arrayOf(string) },
      }),
      project: inBody,
      handle: async ({ body, project: projectId, principal: { userId } }) => {
        const { base_digest, updates } = body
        requireFew(updates)
        const base = await rowDigestsOf(ports)(projectId, base_digest)
        const { rowDigests, updated, contents } = await applyUpdates(ports.sha256, base, updates)
        return async (cause) => {
          const { digest, position } = await publish({ projectId, userId, rowDigests, contents }, cause)
          return { body: { digest, updated_row_digests: updated }, position }
        }
      },
    }),
  ]
}

/** Even a row of two bytes takes hundreds of bytes of memory and 46 of the response. */
const MAX_ROWS = 1_000_000

const requireFew = (rows: readonly unknown[]): void => {
  if (rows.length > MAX_ROWS)
    throw new Failure('too-large', `At most ${MAX_ROWS} rows per request. Split them into several requests.`)
}
