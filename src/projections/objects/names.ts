import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { asOf, versionsAsOf } from './versions-as-of.js'

export interface NamedObject {
  readonly name: string
  readonly digest: string
  readonly class: string
}

/** The newest versions of objects and ops whose names contain a text in any case, the last changed first. */
export const namedObjects = (
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
  position: Position,
  { contains, limit }: { readonly contains: string; readonly limit: number },
): Promise<readonly NamedObject[]> =>
  reader.query<NamedObject>(
    `SELECT object_id AS name, digest, multiIf(kind = 'op', 'Op', ifNull(base_object_class, 'Object')) AS class
    FROM (${versionsAsOf('positionCaseInsensitiveUTF8(object_id, {contains:String}) > 0')})
    WHERE is_latest AND class != 'SavedView' ORDER BY created_at DESC, name LIMIT {limit:UInt64}`,
    { ...asOf(projectId, position), contains, limit },
  )
