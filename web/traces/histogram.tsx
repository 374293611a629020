import { useRef, useState, type KeyboardEvent } from 'react'
import { clockTime, plural, wholeNumber } from '../kit/format.js'
import { useAddress } from '../kit/place.js'
import { useZone } from '../kit/settings.js'
import type { Summary } from './use-summary.js'

/** From the bottom. */
const STATUSES = [
  ['success', 'succeeded', '--ok'],
  ['running', 'running', '--running'],
  ['descendant_error', 'failed below', '--warn'],
  ['error', 'failed', '--danger'],
] as const

interface Selected {
  readonly from: number
  readonly to: number
}

/** The calls of a list over time by status. Dragging, or the arrow keys and Enter, choose the range of the list. */
export const Histogram = ({ summary }: { readonly summary: Summary | undefined }) => {
  const zone = useZone()
  const [, setAddress] = useAddress()
  const frame = useRef<HTMLDivElement>(null)
  const [dragged, setDragged] = useState<Selected>()
  const [pointed, setPointed] = useState<number>()
  const counts = STATUSES.map(([status]) => summary?.by_status[status] ?? [])
  const length = Math.max(0, ...counts.map((one) => one.length))
  const totals = Array.from({ length }, (_, at) => counts.reduce((sum, one) => sum + (one[at] ?? 0), 0))
  const highest = Math.max(1, ...totals)
  const timeAt = (bucket: number) => ((summary?.from_us ?? 0) + bucket * (summary?.step_us ?? 0)) / 1000
  const choose = ({ from, to }: Selected) =>
    setAddress({ range: [from, to].map((at) => new Date(timeAt(at)).toISOString()).join('..') })
  const bucketAt = (x: number) => {
    const { left, width } = frame.current!.getBoundingClientRect()
    return Math.min(length - 1, Math.max(0, Math.floor(((x - left) / width) * length)))
  }
  const move = (step: number) => setPointed(Math.min(length - 1, Math.max(0, (pointed ?? -1) + step)))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowRight') move(1)
    else if (event.key === 'ArrowLeft') move(-1)
    else if (event.key === 'Enter' && pointed !== undefined) choose({ from: pointed, to: pointed + 1 })
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const textOf = (at: number) =>
    `${clockTime(timeAt(at), zone)}: ` +
    (STATUSES.flatMap(([, word], n) => {
      const count = counts[n]![at] ?? 0
      return count === 0 ? [] : [`${wholeNumber(count)} ${word}`]
    }).join(', ') || 'none')
  return (
    <div className="histogram">
      <div
        ref={frame}
        className="histogram-bars"
        role="slider"
        tabIndex={0}
        aria-label="Calls over time: arrow keys choose a bar, Enter shows its time alone"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, length - 1)}
        aria-valuenow={pointed ?? 0}
        aria-valuetext={
          pointed === undefined || pointed >= length ? plural(summary?.calls ?? 0, 'call') : textOf(pointed)
        }
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          if (length === 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          const at = bucketAt(event.clientX)
          setDragged({ from: at, to: at + 1 })
        }}
        onPointerMove={(event) => {
          if (length === 0) return
          const at = bucketAt(event.clientX)
          setPointed(at)
          if (dragged !== undefined) setDragged({ ...dragged, to: at + 1 })
        }}
        onPointerLeave={() => setPointed(undefined)}
        onLostPointerCapture={() => {
          if (dragged !== undefined)
            choose({
              from: Math.min(dragged.from, dragged.to - 1),
              to: Math.max(dragged.from + 1, dragged.to),
            })
          setDragged(undefined)
        }}
      >
        <svg viewBox={`0 0 ${Math.max(1, length)} 100`} preserveAspectRatio="none" aria-hidden="true">
          {dragged !== undefined && (
            <rect
              x={Math.min(dragged.from, dragged.to - 1)}
              width={Math.abs(dragged.to - 1 - dragged.from) + 1}
              height={100}
              fill="var(--bg-selected)"
            />
          )}
          {pointed !== undefined && dragged === undefined && (
            <rect x={pointed} width={1} height={100} fill="var(--bg-hover)" />
          )}
          {totals.flatMap((total, at) => {
            let below = 0
            return STATUSES.map(([status, , color], n) => {
              const height = ((counts[n]![at] ?? 0) / highest) * 96
              // A few failures among many calls stay visible.
              const shown = height === 0 ? 0 : Math.max(3, height)
              below += shown
              return (
                shown > 0 && (
                  <rect
                    key={`${at} ${status}`}
                    data-total={total}
                    x={at + 0.07}
                    y={100 - below}
                    width={0.86}
                    height={shown}
                    fill={`var(${color})`}
                  />
                )
              )
            })
          })}
        </svg>
      </div>
      <div className="histogram-times secondary">
        <span>{length > 0 && clockTime(timeAt(0), zone)}</span>
        <span>{pointed !== undefined && pointed < length && textOf(pointed)}</span>
        <span>{length > 0 && clockTime(timeAt(length), zone)}</span>
      </div>
    </div>
  )
}
