import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { wholeNumber } from './format.js'
import { thin, type Series } from './thin.js'

const HEIGHT = 200

/** Distances of ticks between whole steps. */
const WHOLE = [1, 2, 5]
  .flatMap((digit) => Array.from({ length: 9 }, (_, zeros) => digit * 10 ** zeros))
  .sort((one, other) => one - other)

const shown = (value: number | null | undefined): string =>
  value == null ? '—' : Number.isInteger(value) ? wholeNumber(value) : String(Number(value.toPrecision(5)))

/** `onMove` gets the point under the pointer, null without one. */
const optionsOf = (
  width: number,
  color: (name: string) => string,
  onMove: (x: number, y: number | null | undefined) => void,
): uPlot.Options => {
  const lines = { stroke: color('--border'), width: 1 }
  const axis: uPlot.Axis = {
    stroke: color('--text-2'),
    grid: lines,
    ticks: lines,
    values: (_, values) => values.map((value) => shown(value)),
  }
  return {
    width,
    height: HEIGHT,
    scales: { x: { time: false } },
    axes: [
      { ...axis, size: 32, incrs: WHOLE },
      { ...axis, size: 64 },
    ],
    series: [{}, { stroke: color('--accent'), width: 1.5 }],
    legend: { show: false },
    cursor: { drag: { x: true, y: false } },
    hooks: {
      setCursor: [
        ({ cursor: { idx }, data: [x, y] }) => {
          if (idx == null) onMove(0, null)
          else onMove(x[idx]!, y?.[idx])
        },
      ],
    },
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
  const readout = useRef<HTMLSpanElement>(null)
  const scheme = useComputedColorScheme()
  useEffect(() => {
    if (width === 0 || place.current === null) return
    const styles = getComputedStyle(document.documentElement)
    const options = optionsOf(
      width,
      (color) => styles.getPropertyValue(color),
      (x, y) => {
        readout.current!.textContent = y == null ? '' : `${shown(y)} at step ${shown(x)}`
      },
    )
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
      <figcaption className="bar">
        <strong>{name}</strong> <span className="secondary">{shown(last)}</span>
        <span className="spacer" />
        <span ref={readout} className="secondary" />
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
