import { useVirtualizer } from '@tanstack/react-virtual'
import {
  memo,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type Ref,
} from 'react'
import type { Schemas } from '../api.js'
import { cost, duration, opName, plural, wholeNumber } from '../format.js'
import { visibleRows, type Tree, type TreeRow } from '../tree.js'
import { toneOfCall } from './status.js'

export type TraceColumns = Schemas['TraceColumns']

export interface TreeHandle {
  readonly focus: () => void
}

interface Props {
  readonly trace: TraceColumns
  readonly tree: Tree
  /** The row of the selected call, -1 for none. */
  readonly selected: number
  readonly onSelect: (row: number) => void
  /** The row whose subtree is shown alone, -1 for the whole trace. */
  readonly zoomed: number
  readonly ref: Ref<TreeHandle>
}

const ROW_PX = 24

export const statusOf = ({ status_names, statuses }: TraceColumns, row: number): string =>
  status_names[statuses[row]!] ?? ''

export const nameOf = ({ display_names, op_names, ops, ids }: TraceColumns, row: number): string =>
  display_names[ids[row]!] ?? opName(op_names[ops[row]!] ?? '')

/** The calls of a trace as a tree and a waterfall in one table of which only visible rows are mounted. */
export const TraceTree = ({ trace, tree, selected, onSelect, zoomed, ref }: Props) => {
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set())
  const [openFolds, setOpenFolds] = useState<ReadonlySet<string>>(new Set())
  const scroll = useRef<HTMLDivElement>(null)
  useImperativeHandle(ref, () => ({ focus: () => scroll.current?.focus() }), [])
  const isFailed = useMemo(() => {
    const failed = trace.status_names.map((name) => name === 'error')
    return (row: number) => failed[trace.statuses[row]!] === true
  }, [trace])
  const from = zoomed < 0 ? 0 : tree.placeOf[zoomed]!
  const to = zoomed < 0 ? tree.order.length : from + tree.size[from]!
  const selectedPlace = selected < 0 ? -1 : tree.placeOf[selected]!
  const rows = useMemo(
    () =>
      visibleRows(tree, { closed, openFolds, ops: trace.ops, isFailed, selected: selectedPlace }, from, to),
    [tree, closed, openFolds, trace.ops, isFailed, selectedPlace, from, to],
  )
  const lane = useMemo(() => laneOf(trace, tree, from, to), [trace, tree, from, to])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 6,
    scrollPaddingStart: 28,
    paddingStart: 28,
  })
  const at = rows.findIndex((row) => row.kind === 'call' && row.place === selectedPlace)
  // A call below a closed one is selected by a link or a key: its ancestors open.
  useEffect(() => {
    if (selectedPlace < 0) return
    const ancestors: number[] = []
    for (let place = tree.above[selectedPlace]!; place >= 0; place = tree.above[place]!)
      ancestors.push(tree.order[place]!)
    setClosed((before) =>
      ancestors.some((row) => before.has(row))
        ? new Set([...before].filter((row) => !ancestors.includes(row)))
        : before,
    )
  }, [selectedPlace, tree])
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at)
    // eslint-disable-next-line react-hooks/exhaustive-deps -- scrolls to a new selection, not when rows open above it
  }, [selectedPlace])
  const toggle = (row: number, isOpen: boolean) =>
    setClosed((before) => {
      const next = new Set(before)
      if (isOpen) next.delete(row)
      else next.add(row)
      return next
    })
  const selectAt = (index: number, step: number) => {
    for (let next = index; next >= 0 && next < rows.length; next += step) {
      const row = rows[next]!
      if (row.kind === 'call') onSelect(tree.order[row.place]!)
      else setOpenFolds((before) => new Set([...before, row.key]))
      return
    }
  }
  const press = (event: KeyboardEvent) => {
    const hasChildren = selectedPlace >= 0 && tree.size[selectedPlace]! > 1
    const isOpen = hasChildren && !closed.has(selected)
    const actions: Readonly<Record<string, () => void>> = {
      ArrowDown: () => selectAt(at + 1, 1),
      ArrowUp: () => selectAt(at < 0 ? 0 : at - 1, -1),
      Home: () => selectAt(0, 1),
      End: () => selectAt(rows.length - 1, -1),
      ArrowRight: () => (hasChildren && !isOpen ? toggle(selected, true) : selectAt(at + 1, 1)),
      ArrowLeft: () => {
        if (isOpen) toggle(selected, false)
        else if (selectedPlace > 0 && tree.above[selectedPlace]! >= 0)
          onSelect(tree.order[tree.above[selectedPlace]!]!)
      },
    }
    const action = actions[event.key]
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    action()
  }
  return (
    <div
      className="tree"
      role="tree"
      aria-label="Calls of the trace"
      aria-activedescendant={at < 0 ? undefined : `call-${selected}`}
      tabIndex={0}
      ref={scroll}
      onKeyDown={press}
      style={{ height: '100%' }}
    >
      <div className="tree-head" aria-hidden="true">
        <span>Call</span>
        <span className="number">Duration</span>
        <span className="number wide">Tokens</span>
        <span className="number wide">Cost</span>
        <span>{lane.label}</span>
      </div>
      <div role="none" style={{ height: virtual.getTotalSize() - 28, position: 'relative', marginTop: -28 }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index]!
          return row.kind === 'fold' ? (
            <FoldRow
              key={item.key}
              {...{ trace, tree, row }}
              top={item.start}
              onOpen={() => setOpenFolds((before) => new Set([...before, row.key]))}
            />
          ) : (
            <CallRow
              key={item.key}
              {...{ trace, tree, lane }}
              place={row.place}
              base={tree.depth[from]!}
              top={item.start}
              isSelected={row.place === selectedPlace}
              isOpen={!closed.has(tree.order[row.place]!)}
              onSelect={onSelect}
              onToggle={toggle}
            />
          )
        })}
      </div>
    </div>
  )
}

interface Lane {
  readonly start: number
  readonly length: number
  readonly label: string
}

/** The time that the waterfall shows; a running call lasts until the last known moment. */
const laneOf = ({ starts, durations }: TraceColumns, { order }: Tree, from: number, to: number): Lane => {
  let [start, end] = [Infinity, -Infinity]
  for (let place = from; place < to; place += 1) {
    const row = order[place]!
    start = Math.min(start, starts[row]!)
    end = Math.max(end, starts[row]! + (durations[row] ?? 0))
  }
  const length = Math.max(1, end - start)
  return { start, length, label: duration(length) }
}

interface CallRowProps {
  readonly trace: TraceColumns
  readonly tree: Tree
  readonly lane: Lane
  readonly place: number
  readonly base: number
  readonly top: number
  readonly isSelected: boolean
  readonly isOpen: boolean
  readonly onSelect: (row: number) => void
  readonly onToggle: (row: number, isOpen: boolean) => void
}

const CallRow = memo(function CallRow({
  trace,
  tree,
  lane,
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
  const left = (100 * (trace.starts[row]! - lane.start)) / lane.length
  const width = (100 * (length ?? lane.start + lane.length - trace.starts[row]!)) / lane.length
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
        <span title={nameOf(trace, row)}>{nameOf(trace, row)}</span>
      </span>
      <span className="number">{length === null ? '…' : duration(length)}</span>
      <span className="number wide" title={`${wholeNumber(trace.own_tokens[row]!)} of its own`}>
        {trace.tokens[row] === 0 ? '' : wholeNumber(trace.tokens[row]!)}
      </span>
      <span className="number wide">
        {trace.costs[row] === 0 && !isUnpriced ? '' : cost(trace.costs[row]!, isUnpriced)}
      </span>
      <span className="lane" aria-hidden="true">
        <div
          data-status={status}
          style={{ left: `${Math.max(0, Math.min(99.8, left))}%`, width: `${Math.min(100 - left, width)}%` }}
        />
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

const FoldRow = ({ trace, tree, row: { places, depth }, top, onOpen }: FoldRowProps) => {
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
          {nameOf(trace, rows[0]!)} × {wholeNumber(rows.length)}
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
