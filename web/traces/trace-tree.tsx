import { useVirtualizer } from '@tanstack/react-virtual'
import {
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
  type Ref,
} from 'react'
import type { TraceColumns } from './trace-columns.js'
import { useIsPrinting } from '../kit/printing.js'
import { useSetting } from '../kit/settings.js'
import { closedAtFirst, visibleRows, type Tree } from './tree.js'
import { duration } from '../kit/format.js'
import { CallRow, FoldRow, laneOf, partOf, ROW_PX, type Lane } from './trace-row.js'
import { criticalPath, type PathSegment } from './critical-path.js'
import { Divider } from './divider.js'
import { Minimap } from './minimap.js'

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
  /** 1 for the places to show alone; undefined for all. */
  readonly isShown: Uint8Array | undefined
  readonly isPathShown: boolean
  readonly areFiguresShown: boolean
  readonly ref: Ref<TreeHandle>
}

/** On paper. */
const PRINTED_ROWS = 1000

/** The calls of a trace as a tree and a waterfall in one table of which only visible rows are mounted. */
export const TraceTree = ({
  trace,
  tree,
  selected,
  onSelect,
  zoomed,
  isShown,
  isPathShown,
  areFiguresShown,
  ref,
}: Props) => {
  const [closed, setClosed] = useState<ReadonlySet<number>>(() => closedAtFirst(tree))
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
      visibleRows(
        tree,
        { closed, openFolds, ops: trace.ops, isFailed, selected: selectedPlace, isShown },
        from,
        to,
      ),
    [tree, closed, openFolds, trace.ops, isFailed, selectedPlace, isShown, from, to],
  )
  const whole = useMemo(() => laneOf(trace, tree, from, to), [trace, tree, from, to])
  const segments = useMemo(
    () => (isPathShown ? segmentsByRow(trace, tree, from, whole) : undefined),
    [isPathShown, trace, tree, from, whole],
  )
  const [names, setNames] = useSetting(areFiguresShown ? 'trace-lane' : 'trace-lane-alone', '')
  const usualStart = areFiguresShown ? 49 : 30
  const laneStart = names === '' ? usualStart : Number(names)
  const [part, setPart] = useState<readonly [number, number]>([0, 1])
  const lane = useMemo(() => partOf(whole, part), [whole, part])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: useIsPrinting() ? PRINTED_ROWS : 6,
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
    <div className="tree-frame" style={{ '--lane-start': `${laneStart}cqw` } as CSSProperties}>
      <Minimap {...{ trace, tree, from, to, lane: whole, part }} onPart={setPart} />
      <div
        className="tree"
        role="tree"
        aria-label="Calls of the trace"
        aria-activedescendant={at < 0 ? undefined : `call-${selected}`}
        tabIndex={0}
        ref={scroll}
        onKeyDown={press}
        style={{ flex: 1, minHeight: 0 }}
      >
        <div className="tree-head" aria-hidden="true">
          <span>Call</span>
          <span className="number">Duration</span>
          <span className="number wide">Tokens</span>
          <span className="number wide">Cost</span>
          <span className="lane-ticks">
            {TICKS.map((tick) => (
              <span key={tick} style={{ left: `${tick * 100}%` }}>
                {duration(Math.round(lane.start - whole.start + tick * lane.length))}
              </span>
            ))}
          </span>
        </div>
        <div
          role="none"
          style={{ height: virtual.getTotalSize() - 28, position: 'relative', marginTop: -28 }}
        >
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
                segments={segments?.get(tree.order[row.place]!)}
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
      <Divider
        label="Width of the names"
        className="lane-divider"
        percent={laneStart}
        usual={usualStart}
        from={areFiguresShown ? 45 : 15}
        to={85}
        onPercent={(next) => setNames(String(next))}
      />
    </div>
  )
}

const TICKS = [0, 0.25, 0.5, 0.75]

/** The critical path of the call at a place; a running call lasts as long as the lane. */
const segmentsByRow = (trace: TraceColumns, tree: Tree, place: number, { start, length }: Lane) => {
  const { starts, durations } = trace
  const ends = starts.map((at, row) => {
    const took = durations[row]
    return took == null ? start + length : at + took
  })
  const byRow = new Map<number, PathSegment[]>()
  for (const segment of criticalPath({ starts, ends }, tree, place)) {
    const known = byRow.get(segment.row)
    if (known === undefined) byRow.set(segment.row, [segment])
    else known.push(segment)
  }
  return byRow
}
