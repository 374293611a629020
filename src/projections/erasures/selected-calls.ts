import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { SQL_TIME } from '../clickhouse-values.js'
import type { CallId } from '../calls/pages.js'
import { compileSelection, KEY_FIRST, type CallSelection } from '../calls/select.js'
import { NO_FILTER } from '../calls/filter.js'
import { raw, select, sql, typed, type Sql } from '../sql.js'
import { withDescendants } from '../usage/queries.js'
import { keptCalls, type KeptCalls } from './kept-calls.js'

/** Few enough that their ids fit in a statement. */
const PAGE = 1000

const COLUMNS = sql`call_id AS id, call_started_at AS started_at, call_bytes AS bytes`

/**
 * The selected calls in the order of their starts, deleted ones too.
 *
 * @throws UnknownField
 */
async function* matchingCalls(
  reader: ClickHouseReader,
  selection: CallSelection,
  except: readonly Sql[],
): AsyncGenerator<readonly CallId[]> {
  const compiled = compileSelection(selection, [])
  const visible = [sql`started_position <= {position:UInt64}`, ...except]
  let last: CallId | undefined
  do {
    const range =
      last === undefined ? [] : [sql`(started_at, id) > (${typed(SQL_TIME, last.started_at)}, ${last.id})`]
    const rows = await select<CallId>(
      reader,
      sql`${compiled.selected(COLUMNS, { range, visible })}
      ORDER BY call_started_at, call_id LIMIT ${raw(String(PAGE))} ${KEY_FIRST}`,
    )
    if (rows.length > 0) yield rows
    last = rows.length < PAGE ? undefined : rows.at(-1)
  } while (last !== undefined)
}

interface Options {
  readonly with_descendants: boolean
  readonly except: readonly KeptCalls[]
  /** Whether figures are erased too: then calls below are selected, and an exception keeps the trace of its call. */
  readonly figures: boolean
}

/**
 * The selected calls, deleted ones too, each once, and all calls below them if asked for.
 *
 * @throws UnknownField
 */
export async function* selectedCalls(
  reader: ClickHouseReader,
  selection: CallSelection,
  { with_descendants, except: kept, figures }: Options,
): AsyncGenerator<readonly CallId[]> {
  const except = kept.map((one) => keptCalls(selection.projectId, one, figures ? 'trace' : 'call'))
  if (!with_descendants && !figures) {
    yield* matchingCalls(reader, selection, except)
    return
  }
  const { projectId, position } = selection
  const seen = new Set<string>()
  for await (const page of matchingCalls(reader, selection, except)) {
    const named = page.map(({ id }) => id)
    const below = await withDescendants(reader)(projectId, named, position)
    const call_ids = below.filter((id) => !seen.has(id))
    for (const id of call_ids) seen.add(id)
    for (let from = 0; from < call_ids.length; from += PAGE)
      yield* matchingCalls(
        reader,
        {
          projectId,
          position,
          operation: null,
          filter: { ...NO_FILTER, call_ids: call_ids.slice(from, from + PAGE) },
        },
        except,
      )
  }
}
