import type { ReactNode } from 'react'

export interface ChartSeries {
  readonly label: string
  /** One for each `x`; null where there is none. */
  readonly values: readonly (number | null)[]
  /** The name of a colour of the theme such as `--danger`; by default one by the place of the series. */
  readonly color?: string
  /** What the legend says while no point is pointed at, for example the total. */
  readonly figure?: ReactNode
}

export interface ChartProps {
  /** What it shows, its heading. */
  readonly label: string
  readonly kind: 'lines' | 'bars'
  /** Ascending, milliseconds since 1970 if `isTime`; bars are buckets of equal length that begin there. */
  readonly x: readonly number[]
  readonly isTime?: boolean
  /** Bars are stacked, the first one at the bottom. */
  readonly series: readonly ChartSeries[]
  /** For axis, legend and table. */
  readonly format: (value: number) => string
  readonly formatX?: (x: number) => string
  /** Of the first column of the table: `day`, `step`. */
  readonly xLabel: string
  /** Lines go on over points without a value: the series have points of their own. */
  readonly joinsGaps?: boolean
  /** Horizontal lines. */
  readonly limits?: readonly { readonly label: string; readonly value: number }[]
  /** The person dragged over the chart, or chose a row of the table. Without it, dragging zooms in place. */
  readonly onRange?: (from: number, to: number) => void
  /** Where a bar, a point and its cell in the table lead. */
  readonly hrefOf?: (series: number, at: number) => string | undefined
  readonly height?: number
  /** Buttons in the line of the heading. */
  readonly actions?: ReactNode
  /** Dims what is shown while new data are on their way. */
  readonly isStale?: boolean
}
