import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState, type CSSProperties } from 'react'
import { duration, plural, wholeNumber } from '../kit/format.js'
import { openedList } from './list-memory.js'
import { Comparison } from '../compare/comparison.js'
import { CallDetail, headAt, payloadOf } from './call-detail.js'
import { copy } from '../kit/copy.js'
import { Cost } from '../kit/cost.js'
import { useKeys } from '../kit/keys.js'
import { Name } from '../kit/marked.js'
import { useAddress, usePlace } from '../kit/place.js'
import { useTitle } from '../kit/title.js'
import { CallStatus } from '../kit/status.js'
import { Time } from '../kit/time.js'
import { TraceTree, type TreeHandle } from './trace-tree.js'
import { nameOf, statusOf, type TraceColumns } from './trace-columns.js'
import { treeOf, withAncestors } from './tree.js'
import { Divider } from './divider.js'
import { Refresher } from './refresher.js'
import { ShownSideControl, type ShownSide } from './shown-side.js'
import { kindOf } from './trace-row.js'
import { TreeSearch, type Kinds } from './tree-search.js'
import { useSetting } from '../kit/settings.js'

/** A call is read once the selection rests this long on its neighbour. */
const REST_MS = 150

interface TraceViewProps {
  readonly traceId: string
  readonly trace: TraceColumns
  readonly isOld: boolean
  readonly onRefresh: () => void
}

/** The tree and waterfall of a trace, and the selected call. */
export const TraceView = ({ traceId, trace, isOld, onRefresh }: TraceViewProps) => {
  const { team, project, projectId } = usePlace()
  const [{ call: callId = '', zoom = '', diff = '', find = '', kinds = 'all', critical }, setAddress] =
    useAddress()
  const navigate = useNavigate()
  const handle = useRef<TreeHandle>(null)
  const [shown, setShown] = useState<ShownSide>(callId === '' ? 'list' : 'call')
  const tree = useMemo(() => treeOf(trace.parents), [trace])
  const rowOf = useMemo(() => new Map(trace.ids.map((id, row) => [id, row])), [trace])
  const first = tree.order[0] ?? -1
  const selected = rowOf.get(callId) ?? (callId === '' ? first : -1)
  const zoomed = rowOf.get(zoom) ?? -1
  const select = (row: number) => setAddress({ call: row === first ? '' : trace.ids[row]! }, true)
  const showPath = (isPathShown: boolean) => setAddress({ critical: isPathShown ? '1' : '' }, true)
  const selectNext = (matches: (row: number) => boolean) => {
    const from = selected < 0 ? -1 : tree.placeOf[selected]!
    for (let n = 1; n <= tree.order.length; n += 1) {
      const row = tree.order[(from + n) % tree.order.length]!
      if (!matches(row)) continue
      select(row)
      return
    }
  }
  const queries = useQueryClient()
  useEffect(() => {
    if (selected < 0) return
    const place = tree.placeOf[selected]!
    const timer = setTimeout(() => {
      for (const at of [place + 1, place - 1]) {
        const row = tree.order[at]
        if (row !== undefined) queries.query(payloadOf(projectId, trace.ids[row]!)).catch(() => undefined)
      }
    }, REST_MS)
    return () => clearTimeout(timer)
  }, [selected, tree, trace, projectId, queries])
  const isSingle = trace.ids.length === 1
  const [figures, setFigures] = useSetting('trace-figures', 'on')
  const [width, setWidth] = useSetting('trace-width', '60')
  const selectedPlace = selected < 0 ? -1 : tree.placeOf[selected]!
  const isShown = useMemo(() => {
    if (kinds === 'errors')
      return withAncestors(tree, (place) => statusOf(trace, tree.order[place]!) === 'error')
    if (kinds === 'models')
      return withAncestors(tree, (place) => kindOf(trace, tree.order[place]!) === 'model')
    return undefined
  }, [kinds, trace, tree])
  const found = useMemo(() => {
    const wanted = find.trim().toLowerCase()
    if (wanted === '') return []
    return [...tree.order.keys()].filter((place) =>
      nameOf(trace, tree.order[place]!).toLowerCase().includes(wanted),
    )
  }, [find, trace, tree])
  const moveToMatch = (step: 1 | -1) => {
    const next =
      step > 0
        ? (found.find((place) => place > selectedPlace) ?? found[0])
        : (found.findLast((place) => place < selectedPlace) ?? found.at(-1))
    if (next !== undefined) select(tree.order[next]!)
  }
  const list = openedList(projectId)
  const at = list?.ids.indexOf(traceId) ?? -1
  const neighbour = (step: number): string | undefined => (at < 0 ? undefined : list?.ids[at + step])
  const goTo = (id: string | undefined) =>
    id !== undefined && void navigate({ href: `/${team}/${project}/traces/${encodeURIComponent(id)}` })
  useKeys({
    e: () => selectNext((row) => statusOf(trace, row) === 'error'),
    p: () => selectNext((row) => trace.ops[row] === trace.ops[selected]),
    s: () => selectNext((row) => trace.parents[row] === trace.parents[selected]),
    z: () => selected >= 0 && setAddress({ zoom: trace.ids[selected]! }),
    '0': () => setAddress({ zoom: '' }),
    w: () => showPath(critical !== '1'),
    d: () => selected >= 0 && setAddress({ diff: diff === '' ? trace.ids[selected]! : '' }),
    y: () => selected >= 0 && void copy(trace.ids[selected]!),
    j: () => goTo(neighbour(1)),
    k: () => goTo(neighbour(-1)),
  })
  const failed = useMemo(
    () => trace.statuses.filter((status) => trace.status_names[status] === 'error').length,
    [trace],
  )
  useTitle(selected < 0 ? 'Trace' : nameOf(trace, selected))
  const isRunning = trace.durations.some((length) => length === null)
  const total = lengthOf(trace)
  return (
    <>
      <div className={`page ${isOld ? 'dimmed' : ''}`} style={{ paddingBottom: 8, gap: 8 }}>
        <div className="bar">
          <h1>
            <Name text={nameOf(trace, first)} />
          </h1>
          <CallStatus status={statusOf(trace, first)} />
          <span className="spacer" />
          <Button
            size="compact-sm"
            variant="default"
            disabled={neighbour(-1) === undefined}
            title="Previous trace of the list (k)"
            onClick={() => goTo(neighbour(-1))}
          >
            Previous
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            disabled={neighbour(1) === undefined}
            title="Next trace of the list (j)"
            onClick={() => goTo(neighbour(1))}
          >
            Next
          </Button>
          <span className="secondary">
            {at < 0 || list === null ? 'Not opened from a list' : `${at + 1} of ${list.ids.length}`}
          </span>
        </div>
        <div className="bar secondary">
          <span>{plural(trace.ids.length, 'call')}</span>
          {failed > 0 && <span style={{ color: 'var(--danger)' }}>{wholeNumber(failed)} failed</span>}
          <span>{isRunning ? `running for ${duration(total)}` : duration(total)}</span>
          <span>{wholeNumber(sumOfRoots(trace, trace.tokens))} tokens</span>
          <Cost dollars={sumOfRoots(trace, trace.costs)} unpriced={trace.unpriced.length > 0} />
          <Time at={trace.started_us / 1000} />
          {trace.orphans.length > 0 && (
            <span style={{ color: 'var(--warn)' }}>
              {plural(trace.orphans.length, 'call')} whose parent is missing stand at the top
            </span>
          )}
          {isRunning && <Refresher projectId={projectId} onRefresh={onRefresh} />}
          {zoomed >= 0 && (
            <Button size="compact-xs" variant="default" onClick={() => setAddress({ zoom: '' })}>
              Show the whole trace
            </Button>
          )}
          {callId !== '' && selected < 0 && (
            <span style={{ color: 'var(--warn)' }}>The call of this link is not in the trace any more.</span>
          )}
        </div>
        <ShownSideControl list="Tree" shown={shown} onChange={setShown} />
      </div>
      <div
        className="trace"
        data-shown={shown}
        data-single={isSingle || undefined}
        data-figures={figures}
        style={
          {
            borderTop: '1px solid var(--border)',
            '--tree-width': `${Math.min(80, Math.max(25, Number(width)))}%`,
          } as CSSProperties
        }
      >
        <div className="tree-side">
          {!isSingle && (
            <TreeSearch
              text={find}
              onText={(text) => setAddress({ find: text }, true)}
              matches={found.length}
              at={found.indexOf(selectedPlace) + 1}
              onMove={moveToMatch}
              kinds={kinds as Kinds}
              onKinds={(next) => setAddress({ kinds: next === 'all' ? '' : next }, true)}
              areFiguresShown={figures !== 'off'}
              onFigures={(areShown) => setFigures(areShown ? 'on' : 'off')}
              isPathShown={critical === '1'}
              onPath={showPath}
            />
          )}
          <TraceTree
            {...{ trace, tree, selected, zoomed, isShown }}
            isPathShown={critical === '1'}
            areFiguresShown={figures !== 'off'}
            onSelect={select}
            ref={handle}
          />
        </div>
        {!isSingle && (
          <Divider
            label="Width of the tree"
            percent={Number(width)}
            usual={60}
            from={25}
            to={80}
            onPercent={(next) => setWidth(String(next))}
          />
        )}
        <section className="trace-detail" aria-label="Selected call" tabIndex={-1}>
          {diff !== '' && (
            <Comparison
              leftId={diff}
              rightId={trace.ids[selected] ?? diff}
              onSwap={() => setAddress({ call: diff, diff: trace.ids[selected]! })}
              onStop={() => setAddress({ diff: '' })}
            />
          )}
          {selected >= 0 && (diff === '' || diff === trace.ids[selected]) && (
            <CallDetail
              call={headAt(trace, traceId, selected)}
              onSelect={(id) => setAddress({ call: id }, true)}
            >
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => setAddress({ zoom: trace.ids[selected]! })}
                title="Show this call and its descendants alone (z)"
              >
                Zoom
              </Button>
              {diff === '' && (
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={() => setAddress({ diff: trace.ids[selected]! })}
                  title="Compare this call with another one (d)"
                >
                  Compare
                </Button>
              )}
            </CallDetail>
          )}
        </section>
      </div>
    </>
  )
}

const lengthOf = ({ starts, durations }: TraceColumns): number =>
  starts.reduce((end, start, row) => Math.max(end, start + (durations[row] ?? 0)), 0)

const sumOfRoots = ({ parents }: TraceColumns, figures: readonly number[]): number =>
  parents.reduce((sum, parent, row) => (parent < 0 ? sum + figures[row]! : sum), 0)
