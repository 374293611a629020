import { Button, useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import { AppLink } from './app-link.js'
import { colorOf, HEIGHT, isDrawn, plotDataOf, plotOptionsOf, seriesAt } from './chart-options.js'
import type { ChartProps } from './chart-props.js'
import { clockTime } from './format.js'
import { useZone } from './settings.js'

/**
 * Lines or stacked bars with a legend that gives the figures under the pointer, and the same data as a table for the keyboard
 * and screen readers. Its place has its final size from the start.
 */
export const Chart = (props: ChartProps) => {
  const { label, series, limits = [], height = HEIGHT, actions, isStale = false } = props
  const [isTable, setTable] = useState(false)
  const [pointed, setPointed] = useState<number | null>(null)
  const at = pointed !== null && pointed < props.x.length ? pointed : null
  const zone = useZone()
  const textOfX = (x: number) => props.formatX?.(x) ?? (props.isTime ? clockTime(x, zone) : String(x))
  return (
    <figure className="chart" data-stale={isStale || undefined}>
      <figcaption className="bar">
        <strong>{label}</strong>
        <span className="secondary">{at !== null && textOfX(props.x[at]!)}</span>
        <span className="spacer" />
        {actions}
        <Button
          size="compact-xs"
          variant="default"
          aria-pressed={isTable}
          aria-label={`${label} as a table`}
          onClick={() => setTable(!isTable)}
        >
          Table
        </Button>
      </figcaption>
      <div style={{ height }}>
        {isTable ? (
          <DataTable {...props} textOfX={textOfX} />
        ) : (
          <Plot {...props} zone={zone} onPoint={setPointed} />
        )}
      </div>
      <ul className="legend">
        {series.map(({ label: name, color, values, figure }, index) => (
          <li key={index}>
            <i style={{ background: `var(${color ?? colorOf(index)})` }} />
            <span title={name}>{name}</span>
            <b>{at === null ? figure : values[at] == null ? '—' : props.format(values[at])}</b>
          </li>
        ))}
        {limits.map(({ label: name, value }) => (
          <li key={name}>
            <i data-limit />
            <span title={name}>{name}</span>
            <b>
              {props.format(value)}
              {isDrawn(props, value) ? '' : ' (above the chart)'}
            </b>
          </li>
        ))}
      </ul>
    </figure>
  )
}

interface PlotProps extends ChartProps {
  readonly zone: string
  readonly onPoint: (at: number | null) => void
}

const Plot = (props: PlotProps) => {
  const { label, x, series, onPoint, zone, height = HEIGHT } = props
  const { ref: frame, width } = useElementSize()
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const latest = useRef(props)
  const scheme = useComputedColorScheme()
  const navigate = useNavigate()
  useEffect(() => {
    latest.current = props
  })
  const hasPoints = x.length > 0
  const shape = JSON.stringify([
    props.kind,
    props.isTime,
    height,
    props.limits,
    props.onRange === undefined,
    series.map(({ color }) => color),
    props.kind === 'bars' && x.slice(0, 2),
  ])
  useEffect(() => {
    const element = place.current
    if (width === 0 || element === null || !hasPoints) return
    const styles = getComputedStyle(document.documentElement)
    const made = new uPlot(
      plotOptionsOf(latest.current, {
        width,
        zone,
        color: (name) => styles.getPropertyValue(name),
        onPoint,
        onSelect: (from, to) => selectBuckets(latest.current, from, to),
      }),
      plotDataOf(latest.current),
      element,
    )
    const open = () => {
      const { idx, top } = made.cursor
      if (idx == null || top === undefined) return
      const chosen = seriesAt(latest.current, idx, made.posToVal(top, 'y'))
      const href = chosen === undefined ? undefined : latest.current.hrefOf?.(chosen, idx)
      if (href !== undefined) void navigate({ href })
    }
    made.over.addEventListener('click', open)
    plot.current = made
    return () => {
      made.destroy()
      plot.current = null
    }
  }, [width, scheme, zone, shape, hasPoints, onPoint, navigate])
  useEffect(() => plot.current?.setData(plotDataOf(latest.current)), [x, series])
  const isEmpty = hasPoints && series.every(({ values }) => values.every((value) => value === null))
  return (
    <div ref={frame} style={{ position: 'relative', height }}>
      <div
        ref={place}
        role="img"
        aria-label={`${label}: ${series.length} series, ${x.length} points`}
        style={{ height, cursor: props.hrefOf === undefined ? undefined : 'pointer' }}
      />
      {isEmpty && <div className="chart-empty secondary">Nothing in this range.</div>}
    </div>
  )
}

/** Calls `onRange` with the whole buckets that a selection touches. */
const selectBuckets = ({ x, isTime, kind, onRange }: ChartProps, from: number, to: number): void => {
  const unit = isTime === true ? 1000 : 1
  const [first, last] = [from * unit, to * unit]
  if (kind === 'lines' || x.length < 2) return onRange?.(first, last)
  const step = x[1]! - x[0]!
  const touched = x.filter((at) => at + step > first && at < last)
  if (touched.length > 0) onRange?.(touched[0]!, touched.at(-1)! + step)
}

const DataTable = ({
  label,
  x,
  xLabel,
  series,
  format,
  onRange,
  hrefOf,
  textOfX,
}: ChartProps & { readonly textOfX: (x: number) => string }) => {
  const step = x.length > 1 ? x[1]! - x[0]! : 0
  return (
    <div
      className="scroll"
      style={{ height: '100%', overflow: 'auto' }}
      tabIndex={0}
      role="group"
      aria-label={label}
    >
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{xLabel}</th>
            {series.map(({ label: name }, index) => (
              <th key={index} scope="col" className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {x.map((at, row) => (
            <tr key={at}>
              <th scope="row">
                {onRange === undefined || step === 0 ? (
                  textOfX(at)
                ) : (
                  <button type="button" className="link" onClick={() => onRange(at, at + step)}>
                    {textOfX(at)}
                  </button>
                )}
              </th>
              {series.map(({ values }, index) => {
                const value = values[row]
                const href = hrefOf?.(index, row)
                const text = value == null ? '—' : format(value)
                return (
                  <td key={index} className="number">
                    {value == null || href === undefined ? text : <AppLink href={href}>{text}</AppLink>}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
