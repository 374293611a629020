import { useEffect, useRef, useState } from 'react'
import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { statusOf, type TraceColumns } from './trace-columns.js'
import { kindOf, type Lane } from './trace-row.js'
import type { Tree } from './tree.js'

const HEIGHT = 32

interface MinimapProps {
  readonly trace: TraceColumns
  readonly tree: Tree
  readonly from: number
  readonly to: number
  readonly lane: Lane
  /** What the waterfall shows of the lane, as fractions. */
  readonly part: readonly [number, number]
  readonly onPart: (part: readonly [number, number]) => void
}

const COLORS = { model: '--model', tool: '--tool', step: '--accent' } as const

/** All calls on one strip. Dragging over it shows that time in the waterfall, a double click the whole. */
export const Minimap = ({ trace, tree, from, to, lane, part, onPart }: MinimapProps) => {
  const canvas = useRef<HTMLCanvasElement>(null)
  const { ref: frame, width } = useElementSize()
  const scheme = useComputedColorScheme()
  const [dragged, setDragged] = useState<readonly [number, number]>()
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (context == null || width === 0) return
    const styles = getComputedStyle(document.documentElement)
    context.clearRect(0, 0, width, HEIGHT)
    const step = (HEIGHT - 4) / Math.max(1, to - from)
    for (let place = from; place < to; place += 1) {
      const row = tree.order[place]!
      const color = statusOf(trace, row) === 'error' ? '--danger' : COLORS[kindOf(trace, row)]
      context.fillStyle = styles.getPropertyValue(color)
      const left = ((trace.starts[row]! - lane.start) / lane.length) * width
      const length = ((trace.durations[row] ?? lane.length) / lane.length) * width
      context.fillRect(left, 2 + (place - from) * step, Math.max(1, length), Math.max(1, step - 0.5))
    }
  }, [trace, tree, from, to, lane, width, scheme])
  const fractionAt = (x: number) => {
    const { left, width: all } = canvas.current!.getBoundingClientRect()
    return Math.min(1, Math.max(0, (x - left) / all))
  }
  const [shownFrom, shownTo] = dragged === undefined ? part : [Math.min(...dragged), Math.max(...dragged)]
  return (
    <div className="minimap" ref={frame}>
      <canvas
        ref={canvas}
        width={width}
        height={HEIGHT}
        role="img"
        aria-label="All calls over time: drag to zoom into a time, double click for all of it"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          const at = fractionAt(event.clientX)
          setDragged([at, at])
        }}
        onPointerMove={(event) => {
          if (dragged !== undefined) setDragged([dragged[0], fractionAt(event.clientX)])
        }}
        onLostPointerCapture={() => {
          if (dragged !== undefined && Math.abs(dragged[1] - dragged[0]) > 0.005)
            onPart([Math.min(...dragged), Math.max(...dragged)])
          setDragged(undefined)
        }}
        onDoubleClick={() => onPart([0, 1])}
      />
      <i style={{ left: 0, width: `${shownFrom * 100}%` }} />
      <i style={{ right: 0, width: `${(1 - shownTo) * 100}%` }} />
      {(part[0] > 0 || part[1] < 1) && (
        <button type="button" className="link" onClick={() => onPart([0, 1])}>
          All of the time
        </button>
      )}
    </div>
  )
}
