import { presentConditionsIn } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { inBody } from '../server/authorization.js'
import { Failure, invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, writeProject } from '../server/route-kinds.js'
import { tableCreate, tableCreateFromDigests, type TableUpdate, tableUpdate } from './codecs.js'
import { type DigestedRow, digestedRows, publishTable } from '../../application/tables/publish-table.js'
import { requireRows, rowDigestsOf } from '../../application/tables/row-digests.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { digestedRow } from '../../domain/tables/digests.js'
import { RowOrder } from '../../domain/tables/row-order.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'

interface UpdatedTable {
  readonly rowDigests: readonly string[]
  /** For each update, the row that it inserted or removed. */
  readonly updated: readonly string[]
  /** The new rows. */
  readonly contents: readonly DigestedRow[]
}

/** Applies updates in order, each to the result of the previous one. */
const applyUpdates = async (
  sha256: Sha256,
  base: readonly string[],
  updates: readonly TableUpdate[],
): Promise<UpdatedTable> => {
  const yieldNow = yielding()
  const order = new RowOrder(base)
  const inBase = new Set(base)
  const added = new Map<string, DigestedRow>()
  const updated: string[] = []
  const put = async (index: number, val: DigestedRow['val']) => {
    const row = { val, ...(await digestedRow(sha256, val)) }
    order.insert(index, row.digest)
    if (!inBase.has(row.digest)) added.set(row.digest, row)
    return row.digest
  }
  for (const [i, update] of updates.entries()) {
    if ('append' in update) updated.push(await put(order.length, update.append.row))
    else if ('insert' in update) {
      const { index, row } = update.insert
      requireWithin(index, order.length, order.length, ['updates', i, 'insert', 'index'])
      updated.push(await put(index, row))
    } else {
      const { index } = update.pop
      requireWithin(index, order.length - 1, order.length, ['updates', i, 'pop', 'index'])
      updated.push(order.pop(index))
    }
    const pause = yieldNow()
    if (pause !== undefined) await pause
  }
  const rowDigests = order.toArray()
  const left = new Set(rowDigests)
  return { rowDigests, updated, contents: [...added.values()].filter(({ digest }) => left.has(digest)) }
}

const requireWithin = (index: number, most: number, rows: number, loc: readonly (string | number)[]) => {
  if (index >= 0 && index <= most) return
  const msg = `Value error, index ${index} is out of range: the table has ${rows} rows at this point`
  throw invalidField(loc, 'value_error', msg)
}

type TableServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

const createRoute = (services: TableServices): AnyRoute =>
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
        const { digest, position } = await publishTable(services)(table, cause)
        return { body: { digest, row_digests: digests }, position }
      }
    },
  })

const createFromDigestsRoute = (services: TableServices): AnyRoute =>
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
      const readable = await services.reading.waitForNow(projectId, presentConditionsIn(headers))
      await requireRows(reader, projectId, rowDigests, readable)
      return async (cause) => {
        const table = { projectId, userId, rowDigests, contents: [], expectedDigest }
        const { digest, position } = await publishTable(services)(table, cause)
        return { body: { digest }, position }
      }
    },
  })

const updateRoute = (services: TableServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/table/update',
    summary: 'Create a table from another one by appending, inserting and removing rows.',
    body: tableUpdate,
    response: open('TableUpdateResponse', {
      required: { digest: string, updated_row_digests: arrayOf(string) },
    }),
    project: inBody,
    handle: async ({ body: { base_digest, updates }, project: projectId, principal: { userId } }) => {
      checkMaxRows(updates)
      const base = await rowDigestsOf(services)(projectId, base_digest)
      const { rowDigests, updated, contents } = await applyUpdates(services.sha256, base, updates)
      return async (cause) => {
        const table = { projectId, userId, rowDigests, contents }
        const { digest, position } = await publishTable(services)(table, cause)
        return { body: { digest, updated_row_digests: updated }, position }
      }
    },
  })

/** Creates tables from rows, from stored rows, or by updating another table. */
export const tableWriteRoutes = (services: TableServices): readonly AnyRoute[] => [
  createRoute(services),
  createFromDigestsRoute(services),
  updateRoute(services),
]

/** Even a row of two bytes takes hundreds of bytes of memory and 46 of the response. */
const MAX_ROWS = 1_000_000

const checkMaxRows = (rows: readonly unknown[]): void => {
  if (rows.length > MAX_ROWS)
    throw new Failure('too-large', `At most ${MAX_ROWS} rows per request. Split them into several requests.`)
}
