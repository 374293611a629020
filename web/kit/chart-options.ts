import uPlot from 'uplot'
import type { ChartProps } from './chart-props.js'

export const HEIGHT = 220

/** Colours of the series that have none of their own, by their place. `styles.css` declares them for both themes. */
export const colorOf = (index: number): string => `--chart-${(index % 8) + 1}`

/** Distances of ticks between whole numbers. */
const WHOLE = [1, 2, 5]
  .flatMap((digit) => Array.from({ length: 12 }, (_, zeros) => digit * 10 ** zeros))
  .sort((one, other) => one - other)

/** A budget this many times higher than everything else is named in the legend alone, so that the rest stays readable. */
const MAX_LIMIT = 4

/** The values to draw from below, each with the sum of those under it where they are stacked. */
const heightsOf = ({ kind, series }: ChartProps): readonly (readonly (number | null)[])[] => {
  if (kind === 'lines') return series.map(({ values }) => values)
  const sums: number[] = []
  return series.map(({ values }) => values.map((value, at) => (sums[at] = (sums[at] ?? 0) + (value ?? 0))))
}

/** What uPlot draws: x in seconds or steps, then the series, the highest of a stack first. */
export const plotDataOf = (props: ChartProps): uPlot.AlignedData => [
  props.isTime === true ? props.x.map((at) => at / 1000) : [...props.x],
  ...heightsOf(props)
    .map((heights) => [...heights])
    .reverse(),
]

const highestOf = (props: ChartProps): number => {
  let highest = 0
  for (const heights of heightsOf(props))
    for (const height of heights) if (height !== null && height > highest) highest = height
  return highest
}

/** Whether a limit is drawn as a line. */
export const isDrawn = (props: ChartProps, limit: number): boolean => {
  const highest = highestOf(props)
  return highest === 0 || limit <= highest * MAX_LIMIT
}

/** The series under a height of the chart at a point, undefined above all. */
export const seriesAt = (props: ChartProps, at: number, height: number): number | undefined => {
  const heights = heightsOf(props).map((of) => of[at] ?? null)
  if (props.kind === 'bars') {
    const found = heights.findIndex((top) => top !== null && height <= top)
    return found === -1 ? undefined : found
  }
  let nearest: number | undefined
  const distance = (index: number) => Math.abs((heights[index] ?? Infinity) - height)
  for (const index of heights.keys())
    if (heights[index] !== null && (nearest === undefined || distance(index) < distance(nearest)))
      nearest = index
  return nearest
}

interface Drawing {
  readonly width: number
  /** A colour of the present theme. */
  readonly color: (name: string) => string
  readonly zone: string
  readonly onPoint: (at: number | null) => void
  readonly onSelect: (from: number, to: number) => void
}

export const plotOptionsOf = (props: ChartProps, drawing: Drawing): uPlot.Options => {
  const { kind, series, format, limits = [], isTime = false, onRange, height = HEIGHT } = props
  const { width, color, zone, onPoint, onSelect } = drawing
  const lines = { stroke: color('--border'), width: 1 }
  const axis: uPlot.Axis = { stroke: color('--text-2'), grid: lines, ticks: lines, font: FONT }
  const bars = uPlot.paths.bars!({ size: [0.86, 64], align: isTime ? 1 : 0 })
  const drawLimits = (plot: uPlot) => {
    const { ctx, bbox } = plot
    ctx.save()
    for (const { value } of limits.filter((limit) => isDrawn(props, limit.value))) {
      const y = Math.round(plot.valToPos(value, 'y', true)) + 0.5
      ctx.strokeStyle = color('--danger')
      ctx.lineWidth = devicePixelRatio
      ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio])
      ctx.beginPath()
      ctx.moveTo(bbox.left, y)
      ctx.lineTo(bbox.left + bbox.width, y)
      ctx.stroke()
    }
    ctx.restore()
  }
  return {
    width,
    height,
    // Half of a label that is centred on the end of the axis.
    padding: [8, isTime ? 22 : 8, 0, 0],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    scales: {
      x: { time: isTime, ...(kind === 'bars' ? { range: barRange(props) } : {}) },
      y: {
        range: (_, low, high) => {
          const drawn = limits.filter(({ value }) => isDrawn(props, value)).map(({ value }) => value)
          const top = Math.max(high, ...drawn)
          const from = kind === 'bars' || low > 0 ? Math.min(0, low) : low
          return top === from ? [from, from + 1] : [from, top + (top - from) * 0.05]
        },
      },
    },
    axes: [
      {
        ...axis,
        size: isTime ? 44 : 28,
        ...(isTime
          ? { values: timeLabels }
          : { incrs: WHOLE, values: (_, values) => values.map((value) => props.formatX?.(value) ?? value) }),
      },
      { ...axis, size: 64, values: (_, values) => values.map((value) => format(value)) },
    ],
    series: [
      {},
      ...series
        .map(({ color: own }, index) => {
          const stroke = color(own ?? colorOf(index))
          return kind === 'bars'
            ? { fill: stroke, stroke: color('--bg'), width: 1, paths: bars, points: { show: false } }
            : { stroke, width: 1.5, spanGaps: props.joinsGaps === true, points: { size: 4, fill: stroke } }
        })
        .reverse(),
    ],
    legend: { show: false },
    cursor: {
      drag: { x: true, y: false, setScale: onRange === undefined, dist: 4 },
      points: { show: kind === 'lines' },
      y: false,
    },
    hooks: {
      draw: [drawLimits],
      setCursor: [({ cursor: { idx } }) => onPoint(idx ?? null)],
      setSelect: [
        (plot) => {
          if (onRange === undefined || plot.select.width < 4) return
          const { left, width: selected } = plot.select
          onSelect(plot.posToVal(left, 'x'), plot.posToVal(left + selected, 'x'))
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        },
      ],
    },
  }
}

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'

/** Hours or days, as far as they are apart. */
const timeLabels: uPlot.Axis.Values = [
  [86_400 * 365, '{YYYY}', null, null, null, null, null, null, 1],
  [86_400 * 28, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400, '{MMM} {D}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{MMM} {D}', null, '\n{MMM} {D}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{MMM} {D}', null, '\n{MMM} {D}', null, null, null, 1],
]

/** Room for the whole last bar of times, and half a bar before and after categories. */
const barRange =
  ({ x, isTime = false }: ChartProps): uPlot.Range.Function =>
  (_, low, high) => {
    const unit = isTime ? 1000 : 1
    const step = x.length > 1 ? (x[1]! - x[0]!) / unit : isTime ? 3600 : 1
    return isTime ? [low, high + step] : [low - step / 2, high + step / 2]
  }
