import { Chart } from '../kit/chart.js'
import type { ChartSeries } from '../kit/chart-props.js'
import { cost, wholeNumber } from '../kit/format.js'
import { useAddress } from '../kit/place.js'
import { bucketRange, draggedRange } from '../overview/buckets.js'
import { groupHref, METRICS, type Scope, type TimedQuestion, type UsageQuestion } from './usage-address.js'
import { figureOf, type UsageRow } from './usage-data.js'

const MAX_SERIES = 7

const formatOf = ({ metric }: UsageQuestion) =>
  metric === 'total_cost' ? (dollars: number) => cost(dollars) : wholeNumber

/** `gpt-4o · chat`; a missing value is said to be one. */
export const groupName = (by: readonly string[], group: Readonly<Record<string, string>>): string =>
  by.length === 0 ? 'all' : by.map((name) => group[name] || `no ${name}`).join(' · ')

interface Line extends ChartSeries {
  /** Null for all further groups. */
  readonly group: Readonly<Record<string, string>> | null
}

/** One series a group, the largest first, and the sum of the rest. */
const linesOf = (
  rows: readonly UsageRow[],
  { by, unit, metric }: TimedQuestion,
  starts: readonly number[],
): readonly Line[] => {
  const places = new Map(starts.map((start, at) => [start, at]))
  const groups = new Map<
    string,
    { group: Readonly<Record<string, string>>; values: (number | null)[]; sum: number }
  >()
  for (const { group, usage } of rows) {
    const key = JSON.stringify(by.map((name) => group[name]))
    const found = groups.get(key) ?? { group, values: starts.map(() => null), sum: 0 }
    const at = places.get(Date.parse(group[unit]!) / 1000)
    const value = figureOf(usage, metric)
    if (at !== undefined) found.values[at] = value
    groups.set(key, { ...found, sum: found.sum + (value ?? 0) })
  }
  const sorted = [...groups.values()].filter(({ sum }) => sum > 0).sort((one, other) => other.sum - one.sum)
  const rest = sorted.slice(MAX_SERIES)
  const lines = sorted
    .slice(0, MAX_SERIES)
    .map(({ group, values }) => ({ label: groupName(by, group), values, group }))
  if (rest.length === 0) return lines
  const values = starts.map((_, at) => rest.reduce((sum, of) => sum + (of.values[at] ?? 0), 0))
  return [...lines, { label: `${rest.length} more`, values, color: '--chart-other', group: null }]
}

interface UsageChartProps {
  readonly scope: Scope
  readonly rows: readonly UsageRow[] | undefined
  readonly question: TimedQuestion
  readonly starts: readonly number[]
  readonly limits: readonly { readonly label: string; readonly value: number }[]
  readonly isStale: boolean
}

/** Usage by time, stacked by group. */
export const UsageChart = ({ scope, rows = [], question, starts, limits, isStale }: UsageChartProps) => {
  const [, setAddress] = useAddress()
  const lines = linesOf(rows, question, starts)
  const range = { start: question.start, end: question.end }
  return (
    <Chart
      label={`${METRICS.find(({ value }) => value === question.metric)!.label} by ${[...question.by, question.unit].join(', ')}`}
      kind="bars"
      isTime
      x={starts.map((start) => start * 1000)}
      xLabel={question.unit}
      series={lines}
      format={formatOf(question)}
      limits={limits}
      isStale={isStale}
      onRange={(from, to) => setAddress({ range: draggedRange(starts, from, to, range) })}
      hrefOf={(series, at) => {
        const { group } = lines[series]!
        if (group === null || (scope.project === '' && group['project'] === undefined)) return undefined
        const { start, end } = bucketRange(starts, at, range)
        return groupHref(scope, question, group, `${start}..${end}`)
      }}
    />
  )
}
