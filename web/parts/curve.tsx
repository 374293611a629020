import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { wholeNumber } from '../format.js'
import type { Series } from './job-events.js'
import { thin } from './thin.js'

const HEIGHT = 200

const shown = (value: number | null | undefined): string =>
  value == null ? '—' : Number.isInteger(value) ? wholeNumber(value) : String(Number(value.toPrecision(5)))

const optionsOf = (width: number, color: (name: string) => string): uPlot.Options => {
  const axis = {
    stroke: color('--text-2'),
    grid: { stroke: color('--border') },
    ticks: { stroke: color('--border') },
  }
  return {
    width,
    height: HEIGHT,
    scales: { x: { time: false } },
    axes: [axis, { ...axis, size: 64, values: (_, values) => values.map((value) => shown(value)) }],
    series: [
      { label: 'Step', value: (_, value) => shown(value) },
      { label: 'Value', stroke: color('--accent'), width: 1.5, value: (_, value) => shown(value) },
    ],
    // A legend of live values would shift the layout.
    legend: { show: false },
    cursor: { drag: { x: true, y: false } },
  }
}

/** The curve of a metric over the gradient steps. Drag to zoom, double-click to reset. */
export const Curve = ({
  name,
  series,
  version,
}: {
  readonly name: string
  readonly series: Series
  /** Changes when points are added. */
  readonly version: number
}) => {
  const { ref: frame, width } = useElementSize()
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const scheme = useComputedColorScheme()
  useEffect(() => {
    if (width === 0 || place.current === null) return
    const styles = getComputedStyle(document.documentElement)
    const options = optionsOf(width, (color) => styles.getPropertyValue(color))
    plot.current = new uPlot(options, [...thin(series)], place.current)
    return () => plot.current?.destroy()
    // eslint-disable-next-line react-hooks/exhaustive-deps -- new points are added to the plot below
  }, [width, scheme])
  useEffect(() => {
    plot.current?.setData([...thin(series)])
  }, [series, version])
  const last = series.y.at(-1)
  return (
    <figure className="curve">
      <figcaption>
        <strong>{name}</strong> <span className="secondary">{shown(last)}</span>
      </figcaption>
      <div ref={frame}>
        <div
          ref={place}
          role="img"
          aria-label={`${name} over ${series.x.length} gradient steps, now ${shown(last)}`}
          style={{ height: HEIGHT }}
        />
      </div>
    </figure>
  )
}
