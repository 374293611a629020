import { memo } from 'react'
import { cost, duration, plural, wholeNumber } from '../kit/format.js'
import { nameOf, statusOf, type TraceColumns } from './trace-columns.js'
import type { PathSegment } from './critical-path.js'
import type { Tree, TreeRow } from './tree.js'
import { Name } from '../kit/marked.js'
import { toneOfCall } from '../kit/status.js'

export const ROW_PX = 24

export interface Lane {
  readonly start: number
  readonly length: number
}

/** The time that the waterfall shows; a running call lasts until the last known moment. */
export const laneOf = (
  { starts, durations }: TraceColumns,
  { order }: Tree,
  from: number,
  to: number,
): Lane => {
  let [start, end] = [Infinity, -Infinity]
  for (let place = from; place < to; place += 1) {
    const row = order[place]!
    start = Math.min(start, starts[row]!)
    end = Math.max(end, starts[row]! + (durations[row] ?? 0))
  }
  const length = Math.max(1, end - start)
  return { start, length }
}

/** A part of the time between two fractions of it. */
export const partOf = ({ start, length }: Lane, [from, to]: readonly [number, number]): Lane => ({
  start: start + from * length,
  length: Math.max(1, (to - from) * length),
})

/** What a call is, by which its bar is coloured. */
export const kindOf = (trace: TraceColumns, row: number): 'model' | 'tool' | 'step' => {
  if (trace.models[row]! >= 0 || trace.own_tokens[row]! > 0) return 'model'
  const name = nameOf(trace, row)
  return /tool|search|retriev|fetch|http|query|read_/i.test(name) ? 'tool' : 'step'
}

interface CallRowProps {
  readonly trace: TraceColumns
  readonly tree: Tree
  readonly lane: Lane
  /** What of the critical path is the call itself. */
  readonly segments: readonly PathSegment[] | undefined
  readonly place: number
  readonly base: number
  readonly top: number
  readonly isSelected: boolean
  readonly isOpen: boolean
  readonly onSelect: (row: number) => void
  readonly onToggle: (row: number, isOpen: boolean) => void
}

export const CallRow = memo(function CallRow({
  trace,
  tree,
  lane,
  segments = [],
  place,
  base,
  top,
  isSelected,
  isOpen,
  onSelect,
  onToggle,
}: CallRowProps) {
  const row = tree.order[place]!
  const status = statusOf(trace, row)
  const [tone, word] = toneOfCall(status)
  const hasChildren = tree.size[place]! > 1
  const length = trace.durations[row] ?? null
  const at = (time: number) => Math.min(100, Math.max(0, (100 * (time - lane.start)) / lane.length))
  const started = trace.starts[row]!
  const ended = length === null ? lane.start + lane.length : started + length
  const [left, right] = [at(started), at(ended)]
  const isInSight = ended >= lane.start && started <= lane.start + lane.length
  const onPath = segments.reduce((sum, { from, to }) => sum + to - from, 0)
  const isUnpriced = trace.unpriced.includes(row)
  return (
    <div
      id={`call-${row}`}
      className="tree-row"
      role="treeitem"
      aria-level={tree.depth[place]! - base + 1}
      aria-selected={isSelected}
      aria-expanded={hasChildren ? isOpen : undefined}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onSelect(row)}
    >
      <span className="tree-name" style={{ paddingLeft: 8 + 14 * Math.min(24, tree.depth[place]! - base) }}>
        <span
          className="tree-toggle"
          aria-hidden="true"
          onClick={(event) => {
            if (!hasChildren) return
            event.stopPropagation()
            onToggle(row, !isOpen)
          }}
        >
          {hasChildren ? (isOpen ? '▾' : '▸') : ''}
        </span>
        <span className="status" data-tone={tone} title={word} aria-label={word}>
          {tone === 'ok' ? '●' : tone === 'danger' ? '■' : tone === 'running' ? '◐' : '▲'}
        </span>
        <span title={nameOf(trace, row)}>
          <Name text={nameOf(trace, row)} />
          {onPath > 0 && <span className="visually-hidden">, {duration(onPath)} on the critical path</span>}
        </span>
      </span>
      <span className="number">{length === null ? '…' : duration(length)}</span>
      <span className="number wide" title={`${wholeNumber(trace.own_tokens[row]!)} of its own`}>
        {trace.tokens[row] === 0 ? '' : wholeNumber(trace.tokens[row]!)}
      </span>
      <span className="number wide">
        {trace.costs[row] === 0 && !isUnpriced ? '' : cost(trace.costs[row]!, isUnpriced)}
      </span>
      <span className="lane" aria-hidden="true">
        {isInSight && (
          <div
            data-status={status}
            data-kind={kindOf(trace, row)}
            style={{ left: `${Math.min(99.8, left)}%`, width: `${right - left}%` }}
          />
        )}
        {segments
          .filter(({ from, to }) => to > lane.start && from < lane.start + lane.length)
          .map(({ from, to }) => (
            <span
              key={from}
              title={`${duration(onPath)} on the critical path`}
              style={{ left: `${at(from)}%`, width: `${at(to) - at(from)}%` }}
            />
          ))}
      </span>
    </div>
  )
})

interface FoldRowProps {
  readonly trace: TraceColumns
  readonly tree: Tree
  readonly row: Extract<TreeRow, { kind: 'fold' }>
  readonly top: number
  readonly onOpen: () => void
}

export const FoldRow = ({ trace, tree, row: { places, depth }, top, onOpen }: FoldRowProps) => {
  const rows = places.map((place) => tree.order[place]!)
  const lengths = rows.flatMap((row) => trace.durations[row] ?? []).sort((a, b) => a - b)
  const middle = lengths[Math.floor(lengths.length / 2)]
  const sum = (values: readonly number[]) => rows.reduce((total, row) => total + values[row]!, 0)
  return (
    <div
      className="tree-row"
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={false}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onOpen}
    >
      <span className="tree-name" style={{ paddingLeft: 8 + 14 * depth }}>
        <span className="tree-toggle" aria-hidden="true">
          ▸
        </span>
        <span>
          <Name text={nameOf(trace, rows[0]!)} /> × {wholeNumber(rows.length)}
        </span>
      </span>
      <span className="number" title="Half of them took less">
        {middle === undefined ? '' : `p50 ${duration(middle)}`}
      </span>
      <span className="number wide">{sum(trace.tokens) === 0 ? '' : wholeNumber(sum(trace.tokens))}</span>
      <span className="number wide">{sum(trace.costs) === 0 ? '' : cost(sum(trace.costs))}</span>
      <span className="secondary">{plural(rows.length, 'equal call')}, click to open</span>
    </div>
  )
}
