import { usedModelOf, type Operand, type UsedModel } from '../../../domain/query/expression.js'
import { plainKeyOf } from '../../../domain/prices/variant.js'
import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { conjunctsOf, startRange } from '../../calls/locate.js'
import type { CallSelection } from '../../calls/select.js'
import { sql, type Sql } from '../../sql.js'
import { readTotals } from './open-traces.js'
import { usageRows, type OpenTraces, type UsageKind } from './usage-rows.js'

/**
 * Reads a selection whose operation may have `$usedModel`. The calls are those of which `/usage/query` counts usage of the
 * model.
 *
 * @throws AnswerTooLarge, TotalsNotReady
 */
export const readUsedModels = async <A, S extends CallSelection>(
  reader: Pick<ClickHouseReader, 'query' | 'stream'>,
  selection: S,
  read: (selection: S) => Promise<A>,
): Promise<A> => {
  const kinds = [...new Set(usedModelsIn(selection.operation).map(kindOf))]
  const opened = (left: readonly UsageKind[], open: Partial<Record<UsageKind, OpenTraces>>): Promise<A> => {
    const [kind, ...more] = left
    if (kind === undefined)
      return read({ ...selection, usedModel: (used, calls) => callsOf(used, calls, open[kindOf(used)]!) })
    const { projectId, operation, position, began } = selection
    const reading = { projectId, filter: null, operation, position, ...(began && { began }) }
    return readTotals(reader, { ...reading, kind, prices: null }, (traces) =>
      opened(more, { ...open, [kind]: traces }),
    )
  }
  return kinds.length === 0 ? read(selection) : opened(kinds, {})
}

const kindOf = (used: UsedModel): UsageKind => (usedModelOf(used).isOwn ? 'own' : 'inclusive')

const usedModelsIn = (value: Operand | null): readonly UsedModel[] => {
  const found: UsedModel[] = []
  const visit = (one: unknown): void => {
    if (typeof one !== 'object' || one === null || '$literal' in one) return
    if ('$usedModel' in one) found.push(one.$usedModel as UsedModel)
    else Object.values(one).forEach(visit)
  }
  visit(value)
  return found
}

/** Selects calls with usage of any model. */
const ANY = '*'

/** Rows of a model differ in the variant of its usage. */
const callsOf = (
  used: UsedModel,
  { projectId, position, began, operation }: CallSelection,
  open: OpenTraces,
): Sql => {
  const { model } = usedModelOf(used)
  const key = plainKeyOf(model)
  const rows = usageRows({
    ...{ projectId, position, filter: null, operation: null, kind: kindOf(used), open },
    ...(began && { began }),
    range: [
      ...startRange(operation === null ? [] : conjunctsOf(operation)),
      ...(model === ANY ? [] : [sql`(model = ${key} OR startsWith(model, concat(${key}, char(31))))`]),
    ],
  })
  return sql`call_id IN (SELECT call_id FROM ${rows})`
}
