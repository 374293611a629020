import type { Json } from '../../domain/json/json.js'
import type { Ports } from '../../domain/ports/ports.js'
import { isDigest, tableStream, type TablePublished } from '../../domain/table/events.js'
import { Failure } from '../failure.js'

export const noSuchTable = (): Failure =>
  new Failure('not-found', 'Table not found: the project has no table with this digest.')

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
      return JSON.parse(Buffer.from(content).toString('utf8')) as Json & readonly string[]
    }
    throw noSuchTable()
  }
