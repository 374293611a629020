import type { Place } from '../kit/place.js'
import { printSearch } from '../kit/search.js'
import { filterText, type Operand } from './filter.js'

/** The address of the list of the calls that meet all conditions; of root calls only, unless `all`. */
export const callsHref = (
  { team, project }: Place,
  {
    conditions = [],
    range = '',
    all = false,
    sort = '',
  }: {
    readonly conditions?: readonly Operand[]
    readonly range?: string
    readonly all?: boolean
    readonly sort?: string
  },
): string =>
  `/${team}/${project}/traces` +
  printSearch({ filter: filterText(conditions), range, roots: all ? '0' : '', sort })
