import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import type { CallSelection } from '../../calls/select.js'
import type { FieldValues } from '../../calls/values.js'
import { usageBy } from './queries.js'
import { readTotals } from './open-traces.js'
import { readUsedModels } from './used-models.js'
import type { UsageKind } from './usage-rows.js'

/** Beyond these, a part of a name is not found. */
const MAX_MODELS = 10_000

/**
 * The models that most of the selected calls used, themselves or with their descendants. `contains` ignores case.
 *
 * @throws UnknownField, AnswerTooLarge, TotalsNotReady
 */
export const commonModels = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  kind: UsageKind,
  { contains, limit }: { readonly contains: string; readonly limit: number },
): Promise<readonly FieldValues[]> => {
  const groups = await readUsedModels(reader, { ...selection, kind, prices: null }, (selected) =>
    readTotals(reader, selected, (open) =>
      usageBy(reader, {
        ...{ ...selected, open, isCompared: false, limit: contains === '' ? limit : MAX_MODELS },
        groupBy: [{ name: 'model' }],
        orderBy: [{ field: 'calls', direction: 'desc' }],
      }),
    ),
  )
  const wanted = contains.toLowerCase()
  return groups
    .flatMap(({ key, figures }) =>
      key === undefined ? [] : [{ value: String(key[0]), calls: Number(figures.calls) }],
    )
    .filter(({ value }) => value.toLowerCase().includes(wanted))
    .slice(0, limit)
}
