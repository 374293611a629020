import { arrayOf } from '../../domain/codec/containers.js'
import { string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { Failure } from '../failure.js'
import { readsPresent, writesOnce, writesProject } from '../conduct.js'
import { authorizeRead, authorizeWrite } from '../projects/access.js'
import { route, type AnyRoute, type RouteRequest } from '../route.js'
import { digestedRows } from './digested-rows.js'
import { requireKnown } from './known-rows.js'
import { publishTable, type TableToPublish } from './publish.js'
import { rowDigestsOf } from './stored-table.js'
import type { Tables } from './tables.js'
import { applyUpdates } from './updates.js'
import { tableCreate, tableCreateFromDigests, tableUpdate } from './write-codecs.js'

/** The endpoints that make tables: from rows, from rows that are there, and from another table. */
export const tableWriteRoutes = ({
  ports,
  teams,
  reading,
  reader,
  throttle,
}: Tables): readonly AnyRoute[] => {
  const publish = async (
    table: Omit<TableToPublish, 'userId'>,
    { principal, cause }: Pick<RouteRequest<unknown>, 'principal' | 'cause'>,
  ) => {
    await authorizeWrite(teams, principal, table.projectId, cause)
    await throttle()
    const { digest, position } = await publishTable(ports)({ ...table, userId: principal.userId }, cause)
    return { digest, position: reading.ackPosition(table.projectId, position) }
  }

  return [
    route({
      method: 'post',
      path: '/table/create',
      summary: 'Make a table of rows; the same rows are the same table.',
      body: tableCreate,
      ...writesOnce,
      response: open('TableCreateResponse', { required: { digest: string, row_digests: arrayOf(string) } }),
      handle: async (asked) => {
        const { project_id: projectId, rows, expected_digest: expectedDigest } = asked.body.table
        authorizeRead(teams, asked.principal, projectId)
        requireFew(rows)
        const { digests, contents } = await digestedRows(ports.sha256, rows)
        const table = { projectId, rowDigests: digests, contents: contents.values(), expectedDigest }
        const { digest, position } = await publish(table, asked)
        return { body: { digest, row_digests: digests }, position }
      },
    }),
    route({
      method: 'post',
      path: '/table/create_from_digests',
      summary: 'Make a table of rows that the project already has.',
      body: tableCreateFromDigests,
      ...readsPresent,
      errors: [...readsPresent.errors, 'conflict'],
      response: open('TableCreateFromDigestsResponse', { required: { digest: string } }),
      handle: async (asked) => {
        const { project_id: projectId, row_digests: rowDigests, expected_digest: expectedDigest } = asked.body
        authorizeRead(teams, asked.principal, projectId)
        const readable = await reading.waitForNow(projectId, asked.headers)
        await requireKnown(reader, projectId, rowDigests, readable)
        const { digest, position } = await publish(
          { projectId, rowDigests, contents: [], expectedDigest },
          asked,
        )
        return { body: { digest }, position }
      },
    }),
    route({
      method: 'post',
      path: '/table/update',
      summary: 'Make a table from another one, by rows appended, inserted and taken out.',
      body: tableUpdate,
      ...writesProject,
      response: open('TableUpdateResponse', {
        required: { digest: string, updated_row_digests: arrayOf(string) },
      }),
      handle: async (asked) => {
        const { project_id: projectId, base_digest, updates } = asked.body
        authorizeRead(teams, asked.principal, projectId)
        requireFew(updates)
        const base = await rowDigestsOf(ports)(projectId, base_digest)
        const { rowDigests, updated, contents } = await applyUpdates(ports.sha256, base, updates)
        const { digest, position } = await publish({ projectId, rowDigests, contents }, asked)
        return { body: { digest, updated_row_digests: updated }, position }
      },
    }),
  ]
}

/** A row of two bytes takes hundreds of memory, and 46 of the answer. */
const MAX_ROWS = 1_000_000

const requireFew = (rows: readonly unknown[]): void => {
  if (rows.length > MAX_ROWS)
    throw new Failure(
      'too-large',
      `These are over the limit of ${MAX_ROWS} rows at once. Send them in parts.`,
    )
}
