import { ErasedCalls } from '../erasures/erased-calls.js'
import { Button, Select, SegmentedControl } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { download } from '../kit/download.js'
import { cost, exactCost, plural, wholeNumber } from '../kit/format.js'
import { useAddress } from '../kit/place.js'
import { RangePicker } from '../kit/range-picker.js'
import type { Search } from '../kit/search.js'
import { ActionFailed, Empty, Failed } from '../kit/states.js'
import { UNITS } from './calendar.js'
import {
  INITIAL_RANGE,
  MAX_DIMENSIONS,
  METRICS,
  NO_TIME,
  type Scope,
  type UsageQuestion,
} from './usage-address.js'
import { UsageChart } from './usage-chart.js'
import { figureOf, useBudgets, useUsage, type Figures } from './usage-data.js'
import { UsageTable } from './usage-table.js'

interface UsageViewProps {
  readonly scope: Scope
  /** What usage can be grouped by. */
  readonly dimensions: readonly string[]
  readonly initialBy: string
  readonly children?: (question: UsageQuestion) => ReactNode
}

/** Usage by group and time: a chart, and a table with the change to the range before. */
export const UsageView = ({ scope, dimensions, initialBy, children }: UsageViewProps) => {
  const [, setAddress] = useAddress()
  const { question, table, chart, tableBody, again } = useUsage(scope, initialBy)
  const limits = useBudgets(scope, question)
  const save = useMutation({
    mutationFn: (format: 'csv' | 'parquet') =>
      download('/usage/query', { ...tableBody, format, limit: 10_000 }, `usage.${format}`),
  })
  const shown = table.data
  return (
    <>
      <div className="bar">
        <Builder dimensions={dimensions} question={question} />
        <span className="spacer" />
        <RangePicker initial={INITIAL_RANGE} />
        <Button size="xs" variant="default" loading={table.isFetching || chart.isFetching} onClick={again}>
          Refresh
        </Button>
      </div>
      {[table, chart].map(
        ({ error, refetch }, n) =>
          error !== null && <Failed key={n} error={error} what="The usage" onRetry={() => void refetch()} />,
      )}
      {question.unit !== null && (
        <UsageChart
          scope={scope}
          rows={chart.data?.rows}
          question={chart.data?.question ?? { ...question, unit: question.unit }}
          starts={chart.data?.starts ?? NO_STARTS}
          limits={limits}
          isStale={chart.isPlaceholderData}
        />
      )}
      <ErasedCalls count={shown?.erased_calls} />
      <div className="bar" style={{ minHeight: 32 }}>
        {shown !== undefined && (
          <Totals totals={shown.totals.usage} groups={shown.totals.groups} question={shown.question} />
        )}
        <span className="spacer" />
        <Button
          size="compact-sm"
          variant="default"
          aria-pressed={question.isCompared}
          onClick={() => setAddress({ compare: question.isCompared ? '0' : '' })}
        >
          Compare
        </Button>
        {children?.(question)}
        <Button size="compact-sm" variant="default" onClick={() => save.mutate('csv')}>
          CSV
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => save.mutate('parquet')}>
          Parquet
        </Button>
      </div>
      <ActionFailed error={save.error} what="The download" />
      {shown?.rows.length === 0 && (
        <Empty title="No call with usage started in this range">
          Calls have usage if they report the tokens or requests of a model at their end, as SDKs and the
          gateway do.
        </Empty>
      )}
      {shown !== undefined && shown.rows.length > 0 && (
        <UsageTable scope={scope} rows={shown.rows} others={shown.others ?? null} question={shown.question} />
      )}
    </>
  )
}

const NO_STARTS: readonly number[] = []

interface BuilderProps {
  readonly dimensions: readonly string[]
  readonly question: UsageQuestion
}

const Builder = ({ dimensions, question: { by, metric, unit, isInclusive } }: BuilderProps) => {
  const [, setAddress] = useAddress()
  const choices = (own: string | undefined) => [
    { value: '', label: 'nothing' },
    ...[...new Set([...dimensions, ...by])]
      .filter((name) => name === own || !by.includes(name))
      .map((name) => ({ value: name, label: name })),
  ]
  const set = (names: readonly string[], more: Search = {}) =>
    setAddress({ by: names.length === 0 ? 'none' : names.join(','), ...more })
  const setTime = (value: string) =>
    value !== NO_TIME && by.length === MAX_DIMENSIONS
      ? set(by.slice(0, -1), { per: value })
      : setAddress({ per: value })
  return (
    <>
      <Select
        size="xs"
        w={130}
        aria-label="Metric"
        allowDeselect={false}
        data={[...METRICS]}
        value={metric}
        onChange={(value) => setAddress({ metric: value ?? '' })}
      />
      {['By', 'Then by', 'And by'].map((label, index) => (
        <Select
          key={label}
          size="xs"
          w={130}
          aria-label={label}
          allowDeselect={false}
          disabled={index > by.length}
          data={choices(by[index])}
          value={by[index] ?? ''}
          onChange={(value) => set(by.toSpliced(index, 1, ...(value ? [value] : [])))}
        />
      ))}
      <Select
        size="xs"
        w={100}
        aria-label="Time"
        allowDeselect={false}
        data={[...UNITS.map((value) => ({ value, label: value })), { value: NO_TIME, label: 'no time' }]}
        value={unit ?? NO_TIME}
        onChange={(value) => setTime(value ?? '')}
      />
      <SegmentedControl
        size="xs"
        aria-label="Whose usage"
        data={[
          { value: 'own', label: 'Own' },
          { value: 'inclusive', label: 'With descendants' },
        ]}
        value={isInclusive ? 'inclusive' : 'own'}
        onChange={(value) => setAddress({ usage: value === 'own' ? '' : value })}
      />
    </>
  )
}

const Totals = ({
  totals,
  groups,
  question,
}: {
  readonly totals: Figures
  readonly groups: number
  readonly question: UsageQuestion
}) => {
  const value = figureOf(totals, question.metric)
  const unpriced = totals.unpriced_models ?? []
  return (
    <span>
      <strong title={question.metric === 'total_cost' && value !== null ? `$${exactCost(value)}` : undefined}>
        {value === null
          ? 'no price'
          : question.metric === 'total_cost'
            ? cost(value, unpriced.length > 0)
            : wholeNumber(value)}
      </strong>{' '}
      <span className="secondary">
        {plural(groups, 'group')}
        {unpriced.length > 0 && ` · without a price, and not in the cost: ${unpriced.join(', ')}`}
      </span>
    </span>
  )
}
