import { Button, Switch } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useElementScrollRestoration } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { api } from '../kit/api.js'
import { conjunctsIn, queryOf } from './filter.js'
import { plural } from '../kit/format.js'
import { openedList, rememberList } from './list-memory.js'
import { DEFAULT_COLUMNS, isField, type Column } from './list-columns.js'
import { Cell, Filler, HeadCell, hrefOf, type Row } from './call-cells.js'
import { ColumnPicker } from './column-picker.js'
import { FilterBar } from './filter-bar.js'
import { FirstTrace } from '../kit/first-trace.js'
import { useKeys } from '../kit/keys.js'
import { useNews } from './list-news.js'
import { NothingMatches } from './nothing-matches.js'
import { useAddress, usePlace } from '../kit/place.js'
import { SavedViews } from './saved-views.js'
import { Failed, Loading, Searching } from '../kit/states.js'
import { useColumns } from './use-columns.js'

const PAGE = 50
const SCROLL_ID = 'list'
const ROW_PX = 32
/** With more columns only the cells in sight are mounted. */
const MANY_COLUMNS = 30
/** A list that was not looked at for this time is asked for again. */
const OLD_MS = 30 * 60_000

const sortOf = (sort: string) => {
  const isDescending = sort.startsWith('-')
  return { field: isDescending ? sort.slice(1) : sort, direction: isDescending ? 'desc' : 'asc' } as const
}

/** The traces of a project, or all of its calls. What is shown is in the address. */
export const TracesPage = () => {
  const { team, project, projectId } = usePlace()
  const [search, setAddress] = useAddress()
  const { filter = '', q = '', range = '', sort = '-started_at', roots = '1', live = '' } = search
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { columns, setColumns, widths, setWidth, resetWidths } = useColumns()
  // Sorted, so that another order is no other question.
  const fields = useMemo(
    () =>
      columns
        .map(({ name }) => name)
        .filter(isField)
        .sort(),
    [columns],
  )
  const figures = columns.flatMap(({ figure }) => figure ?? []).sort()
  // The end of a relative range stays where it was when the question was asked.
  const query = useMemo(() => queryOf({ filter, q, range }, Date.now()), [filter, q, range])
  const question = {
    project_id: projectId,
    filter: roots === '1' ? { trace_roots_only: true } : null,
    query,
    sort_by: [sortOf(sort)],
    limit: PAGE,
    columns: fields,
    figures,
  }
  const ask = async (offset: number, position: string | undefined, signal: AbortSignal) => {
    const { data, response } = await api.POST('/api/pages/calls', {
      body: { ...question, offset },
      headers: position === undefined ? {} : { 'Tallytree-As-Of': position },
      signal,
    })
    return { ...data!, position: response.headers.get('tallytree-position') ?? '' }
  }
  const key = ['calls', projectId, filter, q, range, sort, roots, fields.join(), figures.join()]
  const list = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => ask(pageParam.offset, pageParam.position, signal),
    initialPageParam: { offset: 0, position: undefined as string | undefined },
    getNextPageParam: ({ has_more, position }, pages) =>
      has_more ? { offset: pages.length * PAGE, position } : undefined,
    placeholderData: (before) => before,
    refetchOnWindowFocus: ({ state }) => Date.now() - state.dataUpdatedAt > OLD_MS && 'always',
  })
  const loaded = useMemo(() => list.data?.pages.flatMap(({ rows }) => rows) ?? [], [list.data])
  const isLive = live === '1'
  const { fresh, changed } = useNews(key, loaded, list.data?.pages[0]?.position, isLive, ask)
  const rows = useMemo(() => loaded.map((row) => changed.get(row.id) ?? row), [loaded, changed])
  const here = location.pathname + location.search
  const [selected, setSelected] = useState(() => {
    const list = openedList(projectId)
    return list?.href === here ? list.opened : undefined
  })
  const at = useMemo(() => rows.findIndex(({ id }) => id === selected), [rows, selected])
  const open = (row: Row | undefined, inNewTab = false) => {
    if (row === undefined) return
    const ids = [...new Set(rows.map(({ trace_id }) => trace_id))]
    rememberList(projectId, { ids, href: here, opened: row.id })
    const href = hrefOf(team, project, row)
    if (inNewTab) window.open(href, '_blank')
    else void navigate({ href })
  }
  const scroll = useRef<HTMLDivElement>(null)
  const before = useElementScrollRestoration({ id: SCROLL_ID })
  const widthOf = ({ name, width }: Column) => widths.get(name) ?? width
  const across = useVirtualizer({
    horizontal: true,
    enabled: columns.length > MANY_COLUMNS,
    initialRect: { width: innerWidth, height: 0 },
    count: columns.length,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => widthOf(columns[index]!),
    overscan: 2,
  })
  const virtual = useVirtualizer({
    initialOffset: before?.scrollY ?? 0,
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  })
  const items = virtual.getVirtualItems()
  const seen = across.getVirtualItems()
  const left = seen[0]?.index ?? 0
  const right = (seen.at(-1)?.index ?? columns.length - 1) + 1
  const last = items.at(-1)?.index ?? 0
  const { hasNextPage, isFetchingNextPage, fetchNextPage, isPlaceholderData } = list
  useEffect(() => {
    if (last >= rows.length - 15 && hasNextPage && !isFetchingNextPage && !isPlaceholderData)
      void fetchNextPage()
  }, [last, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage, isPlaceholderData])
  const move = (step: number) => {
    const next = Math.min(rows.length - 1, Math.max(0, at + step))
    setSelected(rows[next]?.id)
    virtual.scrollToIndex(next)
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => open(rows[at]),
    o: () => open(rows[at], true),
    l: () => setAddress({ live: isLive ? '' : '1' }),
  })
  const isFiltered = conjunctsIn(filter).length > 0 || q !== '' || range !== '' || roots !== '1'
  if (list.isSuccess && rows.length === 0 && !isFiltered)
    return <FirstTrace isLive={() => void list.refetch()} />
  return (
    <div className="page" style={{ flex: 1, minHeight: 0, gap: 8, paddingBlock: 12 }}>
      <div className="bar">
        <h1>{roots === '1' ? 'Traces' : 'Calls'}</h1>
        <FilterBar />
        <span className="spacer" />
        <SavedViews />
        <Switch
          size="xs"
          label="All calls"
          checked={roots !== '1'}
          onChange={(event) => setAddress({ roots: event.currentTarget.checked ? '0' : '1' })}
        />
        <Switch
          size="xs"
          label="Live"
          checked={isLive}
          onChange={(event) => setAddress({ live: event.currentTarget.checked ? '1' : '' })}
        />
        <ColumnPicker
          projectId={projectId}
          shown={columns.map(({ name }) => name)}
          onChange={setColumns}
          onReset={() => {
            setColumns(DEFAULT_COLUMNS)
            resetWidths()
          }}
        />
      </div>
      {fresh > 0 && (
        <Button className="news" size="xs" onClick={() => void list.refetch()}>
          {fresh >= PAGE ? `${PAGE} or more new` : `${fresh} new`}
        </Button>
      )}
      {list.isError && <Failed error={list.error} what="The list" onRetry={() => void list.refetch()} />}
      {list.isLoading && <Loading what="traces" />}
      {list.isSuccess && rows.length === 0 && <NothingMatches />}
      {rows.length > 0 && (
        <div
          className={`scroll ${isPlaceholderData ? 'dimmed' : ''}`}
          ref={scroll}
          data-scroll-restoration-id={SCROLL_ID}
          style={{ flex: 1 }}
          tabIndex={-1}
        >
          <table
            className="table"
            style={{ minWidth: columns.reduce((sum, column) => sum + widthOf(column), 0) }}
          >
            <colgroup>
              {columns.map(({ name, width, isFlexible }) => (
                <col key={name} style={{ width: widths.get(name) ?? (isFlexible ? undefined : width) }} />
              ))}
            </colgroup>
            <thead>
              <tr>
                {columns.map((column) => (
                  <HeadCell
                    key={column.name}
                    column={column}
                    sort={sort}
                    onSort={(next) => setAddress({ sort: next })}
                    onResize={(width) => setWidth(column.name, width)}
                  />
                ))}
              </tr>
            </thead>
            <tbody>
              <Filler height={items[0]?.start ?? 0} columns={columns.length} />
              {items.map(({ index }) => {
                const row = rows[index]!
                return (
                  <tr
                    key={index}
                    data-selected={index === at || undefined}
                    onClick={() => setSelected(row.id)}
                  >
                    {left > 0 && <td colSpan={left} />}
                    {columns.slice(left, right).map(({ name, isNumber }) => (
                      <td key={name} className={isNumber && 'number'}>
                        <Cell
                          column={name}
                          row={row}
                          value={row.cells[fields.indexOf(name)]}
                          href={hrefOf(team, project, row)}
                          onOpen={() => open(row)}
                        />
                      </td>
                    ))}
                    {right < columns.length && <td colSpan={columns.length - right} />}
                  </tr>
                )
              })}
              <Filler height={virtual.getTotalSize() - (items.at(-1)?.end ?? 0)} columns={columns.length} />
            </tbody>
          </table>
        </div>
      )}
      <Searching
        isOn={list.isFetching && !isFetchingNextPage}
        isStopped={!list.isFetching && (list.isPending || isPlaceholderData)}
        onStop={() => void queries.cancelQueries({ queryKey: key })}
        onRetry={() => void list.refetch()}
      >
        {list.isSuccess && plural(rows.length, roots === '1' ? 'trace' : 'call')}
        {hasNextPage && ' shown, more below'}
      </Searching>
    </div>
  )
}
