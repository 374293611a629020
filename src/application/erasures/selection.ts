import type * as t from 'io-ts'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { boolean, oneOf } from '../../kernel/codec/leaves.js'
import { closed } from '../../kernel/codec/struct.js'
import { EXCEPTIONS } from '../../domain/projects/project.js'
import { query } from '../../domain/query/query.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { soleValues } from '../../projections/calls/filter.js'
import type { CallSelection } from '../../projections/calls/select.js'
import { callsFilter } from '../calls/filter.js'

export const erasureSelection = closed('ErasureSelection', {
  says:
    'Calls, by what `/calls/query` selects them by. At least one of `filter` and `query` is required; an empty filter selects all. ' +
    '`except` has the exceptions of a retention, and `erased`, which leaves out calls without content.',
  optional: {
    filter: nullable(callsFilter),
    query: nullable(query),
    with_descendants: withDefault(boolean, false),
    except: withDefault(arrayOf(oneOf('erased', ...EXCEPTIONS)), []),
  },
})
export type ErasureSelection = t.TypeOf<typeof erasureSelection>

export const selectionAt = (
  projectId: string,
  { filter, query }: ErasureSelection,
  position: Position,
): CallSelection => ({ projectId, filter, operation: query?.$expr ?? null, position })

/** The ids of a selection by ids alone, which needs no read model: calls that have not started are selected too. */
export const namedCalls = ({
  filter,
  query,
  with_descendants,
  except,
}: ErasureSelection): readonly string[] | undefined =>
  query === null && !with_descendants && except.length === 0 ? soleValues(filter, 'call_ids') : undefined
