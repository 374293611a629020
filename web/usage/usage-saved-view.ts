import type { Search } from '../kit/search.js'
import { conjunctsIn, filterText } from '../traces/filter.js'
import { USAGE_VIEW, type SavedView } from '../traces/saved-view.js'
import type { ViewKind } from '../traces/saved-views.js'

const viewOf = (label: string, { filter, by = '', metric = '', per = '', usage = '' }: Search): SavedView => {
  const conjuncts = conjunctsIn(filter)
  return {
    view_type: USAGE_VIEW,
    label,
    definition: {
      filter: { trace_roots_only: usage === 'inclusive' },
      ...(conjuncts.length === 0 ? {} : { query: { $expr: { $and: conjuncts } } }),
      charts: [
        {
          x_axis: per,
          y_axis: metric,
          plot_type: 'bar',
          aggregation: 'sum',
          group_keys: by === '' ? null : by.split(','),
        },
      ],
    },
  }
}

const addressOf = ({ definition: { filter, query, charts } }: SavedView): Search => {
  const [chart] = charts ?? []
  return {
    filter: query?.$expr === undefined ? '' : filterText(conjunctsIn(JSON.stringify(query.$expr))),
    by: chart?.group_keys?.join(',') ?? '',
    metric: chart?.y_axis ?? '',
    per: chart?.x_axis ?? '',
    usage: filter?.trace_roots_only === true ? 'inclusive' : '',
  }
}

/** Views of the usage explorer, without a time range as those of lists. */
export const USAGE_VIEWS: ViewKind = { isOwn: ({ view_type }) => view_type === USAGE_VIEW, viewOf, addressOf }
