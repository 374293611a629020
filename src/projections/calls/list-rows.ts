import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { allOf, ofProject, raw, select, sql } from '../sql.js'
import { columnAsOf, endAsOf } from './columns.js'
import { atTimes, KEY_FIRST, VISIBLE, type CallKey } from './select.js'

/** What a list shows of a call, with enough of its payload for a preview. */
export interface ListRow {
  readonly id: string
  readonly trace_id: string
  readonly parent_id: string | null
  readonly op_name: string
  readonly display_name: string | null
  /** In microseconds since 1970. */
  readonly started_us: number
  readonly ended_us: number | null
  readonly status: string
  /** The beginning of the exception. */
  readonly exception: string | null
  readonly user: string | null
  readonly thread: string | null
  /** JSON text, cut off where it is long. */
  readonly inputs: string
  readonly output: string
  readonly attributes: string
  readonly summary: string
}

/** Payload beyond this many bytes is cut off: its beginning is enough for a preview. */
const WHOLE_BYTES = 65_536
const CUT_BYTES = 4000
const EXCEPTION_CHARACTERS = 500

const beginning = (column: string): string =>
  `if(length(${column}) <= {whole:UInt64}, ${column}, leftUTF8(substring(${column}, 1, ${2 * CUT_BYTES}), ${CUT_BYTES}))`

const COLUMNS = {
  id: 'id',
  trace_id: 'trace_id',
  parent_id: 'parent_id',
  op_name: "ifNull(op_name, '')",
  display_name: columnAsOf('display_name'),
  started_us: 'toUnixTimestamp64Micro(started_at)',
  ended_us: `toUnixTimestamp64Micro(${endAsOf('ended_at')})`,
  status: `ifNull(${endAsOf('end_status')}, 'running')`,
  exception: `leftUTF8(${endAsOf('exception')}, ${EXCEPTION_CHARACTERS})`,
  user: 'wb_user_id',
  thread: 'thread_id',
  inputs: `ifNull(${beginning('inputs')}, '')`,
  output: `ifNull(${beginning(endAsOf('output'))}, '')`,
  attributes: `ifNull(${beginning('attributes')}, '')`,
  summary: `ifNull(${beginning(endAsOf('summary'))}, '')`,
}

const SELECTED = Object.entries(COLUMNS)
  .map(([name, sql]) => `${sql} AS row_${name}`)
  .join(', ')

/** The rows of some calls, in the order of the keys. Omits missing and deleted calls. */
export const listRows = async (
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
  keys: readonly CallKey[],
  position: Position,
  wholeBytes = WHOLE_BYTES,
): Promise<readonly ListRow[]> => {
  if (keys.length === 0) return []
  const ids = keys.map(({ id }) => id)
  const times = atTimes(keys.map(({ started_at }) => started_at))
  const condition = allOf([ofProject(projectId, position), times, sql`id IN ${ids}`, ...VISIBLE])
  const rows = await select<Readonly<Record<string, unknown>>>(
    reader,
    sql`SELECT ${raw(SELECTED, { whole: wholeBytes })} FROM calls FINAL WHERE ${condition} ${KEY_FIRST}`,
  )
  const found = new Map(
    rows.map((row) => [
      row['row_id'],
      Object.fromEntries(
        Object.keys(COLUMNS).map((name) => [name, row[`row_${name}`]]),
      ) as unknown as ListRow,
    ]),
  )
  return ids.flatMap((id) => found.get(id) ?? [])
}
