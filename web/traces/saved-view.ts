import { conjunctsIn, filterText, type Operand } from './filter.js'
import { columnsIn, DEFAULT_COLUMNS, isField, printColumns } from './list-columns.js'
import type { Search } from '../kit/search.js'

/** The value of an object of the built-in class `SavedView`, which the Weave SDK knows too. */
export interface SavedView {
  readonly view_type: string
  readonly label: string
  readonly definition: {
    readonly filter?: { readonly trace_roots_only?: boolean | null } | null
    readonly query?: { readonly $expr?: Operand } | null
    readonly cols?: Readonly<Record<string, boolean>> | null
    readonly column_order?: readonly string[] | null
    readonly sort_by?: readonly { readonly field: string; readonly direction: 'asc' | 'desc' }[] | null
    readonly charts?:
      | readonly {
          readonly x_axis: string
          readonly y_axis: string
          readonly plot_type?: string | null
          readonly aggregation?: string | null
          readonly group_keys?: readonly string[] | null
        }[]
      | null
  }
}

/** The type of views of the usage explorer. */
export const USAGE_VIEW = 'usage'

/** The view that an address shows. The search text and a time range are not part of it. */
export const viewOf = (label: string, { filter, cols = '', sort = '', roots = '1' }: Search): SavedView => {
  const conjuncts = conjunctsIn(filter)
  return {
    view_type: 'traces',
    label,
    definition: {
      filter: { trace_roots_only: roots === '1' },
      ...(conjuncts.length === 0 ? {} : { query: { $expr: { $and: conjuncts } } }),
      ...(cols === '' ? {} : columnsOfView(columnsIn(cols))),
      ...(sort === ''
        ? {}
        : { sort_by: [{ field: sort.replace(/^-/, ''), direction: sort.startsWith('-') ? 'desc' : 'asc' }] }),
    },
  }
}

/** The address that shows a view. Whatever the view does not set goes back to the default. */
export const addressOf = ({ definition: { filter, query, sort_by, ...columns } }: SavedView): Search => {
  const [by] = sort_by ?? []
  return {
    q: '',
    range: '',
    filter: query?.$expr === undefined ? '' : filterText(conjunctsIn(JSON.stringify(query.$expr))),
    cols: printColumns(shownIn(columns)),
    sort: by === undefined ? '' : `${by.direction === 'desc' ? '-' : ''}${by.field}`,
    roots: filter?.trace_roots_only === false ? '0' : '1',
  }
}

type ColumnsOfView = Pick<SavedView['definition'], 'cols' | 'column_order'>

const columnsOfView = (names: readonly string[]): ColumnsOfView => ({
  cols: Object.fromEntries([...DEFAULT_COLUMNS, ...names].map((name) => [name, names.includes(name)])),
  column_order: names,
})

/** A view without an order, as others write it, adds columns to the default ones. */
const shownIn = ({ cols, column_order: order }: ColumnsOfView): readonly string[] => {
  const isShown = (name: string) => cols?.[name] === true
  if (order != null && order.some((name) => !isField(name))) return order.filter(isShown)
  return [...DEFAULT_COLUMNS, ...Object.keys(cols ?? {}).filter((name) => isField(name) && isShown(name))]
}
