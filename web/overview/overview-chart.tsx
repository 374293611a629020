import { SegmentedControl } from '@mantine/core'
import { Chart } from '../kit/chart.js'
import type { ChartSeries } from '../kit/chart-props.js'
import { cost, duration, wholeNumber } from '../kit/format.js'
import { useAddress, type Place } from '../kit/place.js'
import { isEqual, type Operand } from '../traces/filter.js'
import { bucketRange, draggedRange, type TimeRange } from './buckets.js'
import { linkTo, type Overview } from './overview-data.js'

const KINDS = [
  { value: 'status', label: 'Status' },
  { value: 'latency', label: 'Duration' },
  { value: 'cost', label: 'Cost' },
] as const
type Kind = (typeof KINDS)[number]['value']

const STATUSES = [
  { status: 'success', label: 'succeeded', color: '--ok' },
  { status: 'descendant_error', label: 'failed below', color: '--warn' },
  { status: 'error', label: 'failed', color: '--danger' },
  { status: 'running', label: 'running', color: '--running' },
] as const

interface Drawn {
  readonly label: string
  readonly kind: 'lines' | 'bars'
  readonly format: (value: number) => string
  readonly series: readonly ChartSeries[]
  /** The calls behind a point of a series. */
  readonly selects: (series: number) => Parameters<typeof linkTo>[2]
  readonly options?: Parameters<typeof linkTo>[3]
}

const sumOf = (values: readonly (number | null)[]): number =>
  values.reduce<number>((sum, value) => sum + (value ?? 0), 0)

const milliseconds = (value: number): string => duration(value * 1000)

const DRAWN: Readonly<Record<Kind, (overview: Overview) => Drawn>> = {
  status: ({ statuses }) => {
    const shown = STATUSES.flatMap((one) => {
      const found = statuses.find(({ status }) => status === one.status)
      return found === undefined ? [] : [{ ...one, values: found.traces }]
    })
    return {
      label: 'Traces by status',
      kind: 'bars',
      format: wholeNumber,
      series: shown.map(({ label, color, values }) => ({
        label,
        color,
        values,
        figure: wholeNumber(sumOf(values)),
      })),
      selects: (series) => [isEqual('summary.weave.status', shown[series]!.status)],
    }
  },
  latency: ({ p50_ms, p95_ms, figures }) => ({
    label: 'Duration of traces',
    kind: 'lines',
    format: milliseconds,
    series: [
      { label: 'p50', values: p50_ms, figure: figures.p50_ms === null ? '—' : milliseconds(figures.p50_ms) },
      { label: 'p95', values: p95_ms, figure: figures.p95_ms === null ? '—' : milliseconds(figures.p95_ms) },
    ],
    selects: () => [],
    options: { sort: '-summary.weave.latency_ms' },
  }),
  cost: ({ costs }) => ({
    label: 'Cost by model',
    kind: 'bars',
    format: (dollars) => cost(dollars),
    series: costs.map(({ model, cost: values }) => ({
      label: model ?? 'other models',
      values,
      figure: cost(sumOf(values)),
      ...(model === null ? { color: '--chart-other' } : {}),
    })),
    selects: (series) => (costs[series]!.model === null ? undefined : [usesModel(costs[series]!.model)]),
    options: { all: true },
  }),
}

/** Calls that used a model themselves. */
export const usesModel = (model: string): Operand => ({ $usedModel: [model, 'own'] })

const NOTHING: Overview['starts'] = []

/** One chart of the range, by choice of status, duration or cost; dragging chooses the range of the page. */
export const OverviewChart = ({
  place,
  shown,
  isStale,
}: {
  readonly place: Place
  readonly shown: (Overview & { readonly range: TimeRange }) | undefined
  readonly isStale: boolean
}) => {
  const [{ chart = '' }, setAddress] = useAddress()
  const kind = KINDS.find(({ value }) => value === chart)?.value ?? 'status'
  const starts = shown?.starts ?? NOTHING
  const drawn = shown === undefined ? undefined : DRAWN[kind](shown)
  return (
    <Chart
      label={drawn?.label ?? 'Loading …'}
      kind={drawn?.kind ?? 'bars'}
      isTime
      x={starts.map((start) => start * 1000)}
      xLabel="from"
      series={drawn?.series ?? []}
      format={drawn?.format ?? String}
      isStale={isStale}
      actions={
        <SegmentedControl
          size="xs"
          aria-label="What the chart shows"
          data={[...KINDS]}
          value={kind}
          onChange={(value) => setAddress({ chart: value === 'status' ? '' : value }, true)}
        />
      }
      {...(shown === undefined || drawn === undefined
        ? {}
        : {
            onRange: (from: number, to: number) =>
              setAddress({ range: draggedRange(starts, from, to, shown.range) }),
            hrefOf: (series: number, at: number) => {
              const conditions = drawn.selects(series)
              return conditions === undefined
                ? undefined
                : linkTo(place, bucketRange(starts, at, shown.range), conditions, drawn.options)
            },
          })}
    />
  )
}
