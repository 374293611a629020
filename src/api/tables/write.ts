import { presentConditionsIn } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { isDigest, tableStream, type TablePublished } from '../../domain/tables/table.js'
import { knownRows } from '../../projections/tables/queries.js'
import { inBody } from '../server/authorization.js'
import { Failure } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, writeProject } from '../server/route-kinds.js'
import { noSuchTable, tableCreate, tableCreateFromDigests, tableUpdate } from './codecs.js'
import { digestedRows, publishTable } from '../../application/tables/publish-table.js'
import { applyUpdates } from './updates.js'

/** Creates tables from rows, from stored rows, or by updating another table. */
export const tableWriteRoutes = (
  services: Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>,
): readonly AnyRoute[] => {
  const { reading } = services
  const publish = publishTable(services)

  return [
    writeProject(services, {
      method: 'post',
      path: '/table/create',
      summary: 'Create a table from rows. Identical rows give the same table.',
      body: tableCreate,
      errors: ['conflict'],
      response: open('TableCreateResponse', { required: { digest: string, row_digests: arrayOf(string) } }),
      project: ({ body }) => body.table.project_id,
      handle: async ({ body, project: projectId, principal: { userId } }) => {
        const { rows, expected_digest: expectedDigest } = body.table
        checkMaxRows(rows)
        const { digests, contents } = await digestedRows(services.sha256, rows)
        const table = { projectId, userId, rowDigests: digests, contents: contents.values(), expectedDigest }
        return async (cause) => {
          const { digest, position } = await publish(table, cause)
          return { body: { digest, row_digests: digests }, position }
        }
      },
    }),
    writeProject(services, {
      method: 'post',
      path: '/table/create_from_digests',
      summary: 'Create a table from rows that are already stored in the project.',
      body: tableCreateFromDigests,
      ...alsoReads,
      errors: [...alsoReads.errors, 'conflict'],
      response: open('TableCreateFromDigestsResponse', { required: { digest: string } }),
      project: inBody,
      handle: async ({ body, project: projectId, principal: { userId }, headers, reader }) => {
        const { row_digests: rowDigests, expected_digest: expectedDigest } = body
        const readable = await reading.waitForNow(projectId, presentConditionsIn(headers))
        await requireKnown(reader, projectId, rowDigests, readable)
        return async (cause) => {
          const table = { projectId, userId, rowDigests, contents: [], expectedDigest }
          const { digest, position } = await publish(table, cause)
          return { body: { digest }, position }
        }
      },
    }),
    writeProject(services, {
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
        checkMaxRows(updates)
        const base = await rowDigestsOf(services)(projectId, base_digest)
        const { rowDigests, updated, contents } = await applyUpdates(services.sha256, base, updates)
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

const checkMaxRows = (rows: readonly unknown[]): void => {
  if (rows.length > MAX_ROWS)
    throw new Failure('too-large', `At most ${MAX_ROWS} rows per request. Split them into several requests.`)
}

/**
 * Reads the row digests of a table from its stream.
 *
 * @throws Failure if the table does not exist or is incomplete
 */
export const rowDigestsOf =
  ({ eventStore, blobs }: Pick<Ports, 'eventStore' | 'blobs'>) =>
  async (projectId: string, digest: string): Promise<readonly string[]> => {
    if (!isDigest(digest)) throw noSuchTable()
    const last = eventStore.readStream(tableStream(projectId, digest), { backwards: true, limit: 1 })
    for await (const { type, data } of last) {
      if (type !== 'TablePublished') continue
      const { row_digests, spilled } = data as unknown as TablePublished
      if (row_digests !== null) return row_digests
      const content = await blobs.get(spilled['row_digests']?.digest ?? '')
      if (content === undefined) throw new Error('the row digests of a table are missing from the blob store')
      return JSON.parse(Buffer.from(content).toString('utf8')) as readonly string[]
    }
    throw noSuchTable()
  }

/** Rows per query, because the engine is slow with longer lists of values. */
const AT_ONCE = 8192

/** Refuses rows that are missing from the project, naming the first. */
const requireKnown = async (
  reader: ClickHouseReader,
  projectId: string,
  rowDigests: readonly string[],
  position: Position,
): Promise<void> => {
  const distinct = [...new Set(rowDigests)]
  for (let at = 0; at < distinct.length; at += AT_ONCE) {
    const part = distinct.slice(at, at + AT_ONCE)
    const known = await knownRows(reader)(projectId, part.filter(isDigest), position)
    const missing = part.find((digest) => !known.has(digest))
    if (missing !== undefined) throw noSuchRow(missing)
  }
}

const MAX_QUOTED = 64

const noSuchRow = (digest: string): Failure => {
  const quoted = digest.length <= MAX_QUOTED ? digest : `${digest.slice(0, MAX_QUOTED).toWellFormed()}…`
  return new Failure('not-found', `Row not found: the project has no row with digest ${quoted}.`)
}
