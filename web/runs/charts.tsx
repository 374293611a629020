import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { api, dataOf } from '../kit/api.js'
import { Chart } from '../kit/chart.js'
import { duration, plural, significantNumber, wholeNumber } from '../kit/format.js'
import { useAddress } from '../kit/place.js'
import { Failed, Loading } from '../kit/states.js'
import { aligned, sectionsOf, type Axis, type Metric } from './metrics.js'

export interface ChartedRun {
  readonly id: string
  readonly name: string
}

interface ChartsProps {
  readonly projectId: string
  readonly runs: readonly ChartedRun[]
  /** Whether one of the runs goes on. */
  readonly isLive: boolean
}

const EVERY_MS = 5000

/** The metrics of some runs, a chart each, in sections by their prefix. */
export const RunCharts = ({
  projectId,
  runs,
  isLive,
  children,
}: ChartsProps & {
  /** Shown below, once the charts have their places. */
  readonly children?: ReactNode
}) => {
  const ids = runs.map(({ id }) => id)
  const names = useQuery({
    queryKey: ['runs', 'names', projectId, ids],
    queryFn: ({ signal }) =>
      dataOf(api.POST('/api/pages/metric-names', { body: { project_id: projectId, runs: ids }, signal })),
    enabled: ids.length > 0,
    refetchInterval: isLive && EVERY_MS,
    placeholderData: (before) => before,
  })
  const numbers = (names.data?.names ?? [])
    .filter(({ name, type }) => type === 'number' && !name.startsWith('_'))
    .map(({ name }) => name)
  if (names.isPending) return <Loading what="metrics" />
  return (
    <>
      {names.isError && (
        <Failed error={names.error} what="The metrics" onRetry={() => void names.refetch()} />
      )}
      {names.isSuccess && numbers.length === 0 && (
        <div className="secondary">These runs have logged no numbers yet.</div>
      )}
      {numbers.length > 0 && <ChartControls />}
      {[...sectionsOf(numbers)].map(([section, own]) => (
        <Section key={section} {...{ projectId, runs, isLive }} section={section} names={own} />
      ))}
      {children}
    </>
  )
}

const AXIS_LABELS: readonly { readonly value: Axis; readonly label: string }[] = [
  { value: 'step', label: 'Step' },
  { value: 'relative', label: 'Time since start' },
  { value: 'time', label: 'Time' },
]

/** How much of the values before a smoothed one has. */
const SMOOTHING = [
  { value: '0', label: 'No smoothing' },
  ...['0.6', '0.9', '0.97'].map((value) => ({ value, label: value })),
]

const useControls = () => {
  const [search, set] = useAddress()
  const axis = AXIS_LABELS.find(({ value }) => value === search['x'])?.value ?? 'step'
  const weight = Number(search['smooth'] ?? 0)
  return { axis, weight: weight > 0 && weight < 1 ? weight : 0, set }
}

const ChartControls = () => {
  const { axis, weight, set } = useControls()
  return (
    <div className="bar">
      <SegmentedControl
        aria-label="Horizontal axis"
        size="xs"
        data={[...AXIS_LABELS]}
        value={axis}
        onChange={(value) => set({ x: value === 'step' ? '' : value }, true)}
      />
      <SegmentedControl
        aria-label="Smoothing"
        size="xs"
        data={SMOOTHING}
        value={SMOOTHING.some(({ value }) => value === String(weight)) ? String(weight) : '0'}
        onChange={(value) => set({ smooth: value === '0' ? '' : value }, true)}
      />
    </div>
  )
}

/** Charts that are read and drawn at once. */
const AT_ONCE = 12

interface SectionProps extends ChartsProps {
  readonly section: string
  readonly names: readonly string[]
}

const Section = ({ projectId, runs, isLive, section, names }: SectionProps) => {
  const [shown, setShown] = useState(AT_ONCE)
  const keys = names.slice(0, shown)
  const ids = runs.map(({ id }) => id)
  const metrics = useQuery({
    queryKey: ['runs', 'metrics', projectId, ids, keys],
    queryFn: ({ signal }) =>
      dataOf(api.POST('/api/pages/metrics', { body: { project_id: projectId, runs: ids, keys }, signal })),
    refetchInterval: isLive && EVERY_MS,
    placeholderData: (before) => before,
  })
  const label = section === '' ? 'Charts' : section
  return (
    <section aria-label={label}>
      <h2>{label}</h2>
      {metrics.isError && (
        <Failed error={metrics.error} what="The charts" onRetry={() => void metrics.refetch()} />
      )}
      <div className="curves">
        {keys.map((name) => (
          <MetricChart
            key={name}
            name={name}
            isStale={metrics.isPlaceholderData}
            lines={runs.map((run) => ({
              run,
              metric: metrics.data?.runs
                .find(({ id }) => id === run.id)
                ?.metrics.find(({ key }) => key === name),
            }))}
          />
        ))}
      </div>
      {shown < names.length && (
        <button type="button" className="link" onClick={() => setShown(shown + AT_ONCE)}>
          Show {plural(Math.min(AT_ONCE, names.length - shown), 'more chart')}
        </button>
      )}
    </section>
  )
}

const NONE: Metric = { steps: [], times: [], values: [] }

const MetricChart = ({
  name,
  lines,
  isStale,
}: {
  readonly name: string
  readonly lines: readonly { readonly run: ChartedRun; readonly metric: Metric | undefined }[]
  readonly isStale: boolean
}) => {
  const { axis, weight } = useControls()
  const { x, values } = aligned(
    lines.map(({ metric }) => metric ?? NONE),
    axis,
    weight,
  )
  return (
    <Chart
      label={name}
      kind="lines"
      x={x}
      xLabel={axis === 'step' ? 'step' : 'time'}
      isTime={axis === 'time'}
      {...(axis === 'time'
        ? {}
        : { formatX: axis === 'step' ? wholeNumber : (at: number) => duration(Math.round(at * 1000)) })}
      joinsGaps
      isStale={isStale}
      format={significantNumber}
      series={lines.map(({ run, metric }, at) => {
        const last = metric?.values.findLast((value) => value !== null)
        return { label: run.name, values: values[at]!, figure: last == null ? '—' : significantNumber(last) }
      })}
    />
  )
}
