import type { SqlParameters } from '../../domain/ports/clickhouse.js'

export interface SortBy {
  /** The keys that lead to the value within a row. */
  readonly path: readonly string[]
  readonly direction: 'asc' | 'desc'
}

interface Sorting {
  /** Columns to take from `table_rows`, one text, each after a comma. */
  readonly columns: string
  /** What to order by, each with a comma behind. */
  readonly order: string
  readonly parameters: SqlParameters
}

/**
 * Numbers come before text in either direction; what is neither (null, a list, an object, nothing) comes last. True and
 * false are text.
 */
export const sortingOf = (sortBy: readonly SortBy[]): Sorting => {
  const parameters: Record<string, string> = {}
  const columns: string[] = []
  const order: string[] = []
  sortBy.forEach(({ path, direction }, i) => {
    const keys = path.map((key, depth) => {
      parameters[`sort_${i}_${depth}`] = key
      return `{sort_${i}_${depth}:String}`
    })
    const at = ['val', ...keys].join(', ')
    const down = direction === 'desc' ? 'DESC' : 'ASC'
    columns.push(
      `, toString(JSONType(${at})) AS type_${i}
      , multiIf(type_${i} IN ('Int64', 'UInt64', 'Double'), 0, type_${i} IN ('String', 'Bool'), 1, 2) AS kind_${i}
      , if(kind_${i} = 0, JSONExtractFloat(${at}), 0.) AS number_${i}
      , if(kind_${i} = 1, JSONExtractString(${at}), '') AS text_${i}`,
    )
    order.push(`kind_${i}, number_${i} ${down}, text_${i} ${down}, `)
  })
  return { columns: columns.join(''), order: order.join(''), parameters }
}
