import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import type { Codec } from '../../kernel/codec/codec.js'
import { oneOf, string } from '../../kernel/codec/leaves.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { builtinClass, filledText, model, named, optionalText, wholeBetween } from './builtin-model.js'

const CONFIG = { isClosed: true, bases: ['DashboardConfigModel', 'BaseModel'] }
const text = nullable(string)
const MOST = Number.MAX_SAFE_INTEGER
const COLUMNS = 24

const layout = model('PanelGridLayout', {
  ...CONFIG,
  required: {
    x: wholeBetween(0, COLUMNS - 1),
    y: wholeBetween(0, MOST),
    w: wholeBetween(1, COLUMNS),
    h: wholeBetween(1, MOST),
  },
  problem: ({ x, w }) =>
    Number(x) + Number(w) > COLUMNS ? `x and w should be ${COLUMNS} together at most` : undefined,
})

const panelQuery = {
  isClosed: true,
  bases: ['PanelQueryConfig', ...CONFIG.bases],
  required: { metric: filledText },
  optional: {
    version: withDefault(wholeBetween(1, 1), 1),
    filter: optionalText,
    format: nullable(oneOf('number', 'percent', 'cost', 'duration')),
  },
}
const GROUPED = { names: { group_by: 'groupBy' } }
const limit = wholeBetween(1, 50)

const panel = (word: string, type: string, query: Codec<JsonObject>) =>
  model(`${word}DashboardPanel`, {
    isClosed: true,
    bases: ['DashboardPanelBase', ...CONFIG.bases],
    required: {
      id: filledText,
      layout,
      panel_type: oneOf(type),
      settings: model(`${word}PanelSettings`, { ...CONFIG, required: { query }, optional: { title: text } }),
    },
  })

const PANELS: Readonly<Record<string, Codec<JsonObject>>> = {
  kpi: panel('Kpi', 'kpi', model('KpiPanelQueryConfig', panelQuery)),
  timeline: panel(
    'Timeline',
    'timeline',
    model('TimelinePanelQueryConfig', {
      ...panelQuery,
      ...GROUPED,
      optional: { ...panelQuery.optional, groupBy: text, limit: nullable(limit) },
    }),
  ),
  breakdown: panel(
    'Breakdown',
    'breakdown',
    model('BreakdownPanelQueryConfig', {
      ...panelQuery,
      ...GROUPED,
      required: { ...panelQuery.required, groupBy: filledText },
      optional: { ...panelQuery.optional, limit: withDefault(limit, 6) },
    }),
  ),
}

export const agentDashboard = builtinClass('AgentDashboard', {
  required: {
    label: string,
    definition: model('AgentDashboardDefinition', {
      ...CONFIG,
      required: { panels: arrayOf(named('panel_type', PANELS)) },
    }),
  },
})
