import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { SETTINGS, type CallSelection } from '../../calls/select.js'
import type { FieldValues } from '../../calls/values.js'
import { raw, select, sql, typed } from '../../sql.js'
import { modelSql } from './groups-sql.js'
import { readTotals } from './open-traces.js'
import { readUsedModels } from './used-models.js'
import { readManyUsage, selectsByCalls, usageRows, type UsageKind } from './usage-rows.js'

/**
 * The models that most of the selected calls used, themselves or with their descendants, as `/usage/query` counts the calls
 * of a model. `contains` ignores case.
 *
 * @throws UnknownField, AnswerTooLarge, TotalsNotReady
 */
export const commonModels = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  kind: UsageKind,
  { contains, limit }: { readonly contains: string; readonly limit: number },
): Promise<readonly FieldValues[]> => {
  const rows = await readUsedModels(reader, { ...selection, kind, prices: null }, (selected) =>
    readTotals(reader, selected, (open) => {
      const query = { ...selected, open }
      return readManyUsage(reader, query, selectsByCalls(query), (merged) =>
        select<{ value: string; calls: string }>(
          reader,
          sql`SELECT ${raw(modelSql('model'))} AS value, sum(counted) AS calls
          FROM (SELECT model, countIf(is_first_of_model) AS counted FROM ${usageRows({ ...query, merged })} GROUP BY model)
          WHERE ${contains} = '' OR positionCaseInsensitiveUTF8(value, ${contains}) > 0
          GROUP BY value ORDER BY calls DESC, value LIMIT ${typed('UInt64', limit)} ${SETTINGS}`,
        ),
      )
    }),
  )
  return rows.map(({ value, calls }) => ({ value, calls: Number(calls) }))
}
