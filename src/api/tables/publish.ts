import { instantOf } from '../../domain/codec/instant.js'
import type { Cause } from '../../domain/event.js'
import { execute } from '../../runtime/execute.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { TableCommand } from '../../domain/table/commands.js'
import { tableDecider } from '../../domain/table/decider.js'
import { tableDigest } from '../../domain/table/digests.js'
import { tableStream } from '../../domain/table/events.js'
import { Failure } from '../failure.js'
import { yielding } from '../../yield-to-event-loop.js'
import { storeField } from './store-field.js'
import { packing, type DigestedRow } from './packs.js'

export type TablePorts = Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256' | 'clock'>

export interface TableToPublish {
  readonly projectId: string
  readonly userId: string
  /** All rows, in order. */
  readonly rowDigests: readonly string[]
  /** The distinct rows that the project may not have yet. */
  readonly contents: Iterable<DigestedRow>
  /** The digest computed by the client. */
  readonly expectedDigest?: string | null
}

/** Stores the rows, then publishes the table. Writes nothing if the table exists. */
export const publishTable =
  (ports: TablePorts) =>
  async (
    { projectId, userId, rowDigests, contents, expectedDigest = null }: TableToPublish,
    cause: Cause,
  ): Promise<{ readonly digest: string; readonly position: Position | undefined }> => {
    const digest = tableDigest(ports.sha256, rowDigests)
    if (expectedDigest !== null && expectedDigest !== digest)
      throw new Failure(
        'conflict',
        `The digest of the rows is ${digest}, which differs from the expected digest.`,
      )
    const yieldNow = yielding()
    const packs = packing(ports)
    for (const row of contents) {
      packs.add(row)
      const pause = yieldNow()
      if (pause !== undefined) await pause
    }
    const ofTable = { project_id: projectId, digest }
    const storing = (await packs.finish()).map((pack): TableCommand => ({
      type: 'StoreTableRows',
      rows: { ...ofTable, ...pack },
    }))
    const row_digests = await storeField(ports, 'row_digests', rowDigests, JSON.stringify(rowDigests))
    const table = {
      ...ofTable,
      ...row_digests,
      row_count: rowDigests.length,
      created_at: instantOf(ports.clock.now()),
      wb_user_id: userId,
    }
    const { readableAt: position } = await execute(ports)(
      tableDecider,
      tableStream(projectId, digest),
      [...storing, { type: 'PublishTable', table }],
      cause,
      // The table exists only with `TablePublished`, which comes last.
      { assumeNew: true, splitAppends: true },
    )
    return { digest, position }
  }
