import { ErasedCalls } from '../erasures/erased-calls.js'
import { Button, SegmentedControl } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { api } from '../kit/api.js'
import { conjunctsIn, queryOf } from './filter.js'
import { Facets, FACETS } from './facets.js'
import { Histogram } from './histogram.js'
import { ListActions } from './list-actions.js'
import { ListTable } from './list-table.js'
import { useSelection } from './selection.js'
import { Totals } from './list-totals.js'
import { useSummary, useSums, whenOld } from './use-summary.js'
import { useSetting } from '../kit/settings.js'
import { Toggle } from '../kit/toggle.js'
import { openedList, rememberList } from './list-memory.js'
import { DEFAULT_COLUMNS, isField } from './list-columns.js'
import { hrefOf, type Row } from './call-cells.js'
import { ColumnPicker } from './column-picker.js'
import { FilterBar } from './filter-bar.js'
import { FirstTrace } from '../kit/first-trace.js'
import { useAsOf, withAsOf } from '../kit/as-of.js'
import { useKeys } from '../kit/keys.js'
import { useNews } from './list-news.js'
import { NothingMatches } from './nothing-matches.js'
import { useAddress, usePlace } from '../kit/place.js'
import { SavedViews } from './saved-views.js'
import { Failed, Loading, Searching } from '../kit/states.js'
import { useColumns } from './use-columns.js'
import { useTitle } from '../kit/title.js'

const PAGE = 50
/** The values of the list stand next to it by default. */
const WIDE = '(min-width: 1200px)'

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
  const asOf = useAsOf()
  const queries = useQueryClient()
  const { columns, setColumns, widths, setWidth, resetWidths } = useColumns()
  useTitle(roots === '1' ? 'Traces' : 'All calls')
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
    refetchOnWindowFocus: whenOld,
  })
  const loaded = useMemo(() => list.data?.pages.flatMap(({ rows }) => rows) ?? [], [list.data])
  const isLive = live === '1'
  const isWide = useMediaQuery(WIDE, matchMedia(WIDE).matches, { getInitialValueInEffect: false })
  const [values, setValues] = useSetting('values', '')
  const areValuesShown = values === '' ? isWide : values === 'on'
  const { fresh, changed } = useNews(key, loaded, list.data?.pages[0]?.position, isLive, ask)
  const rows = useMemo(() => loaded.map((row) => changed.get(row.id) ?? row), [loaded, changed])
  const here = location.pathname + location.search
  const [current, setCurrent] = useState(() => {
    const list = openedList(projectId)
    return list?.href === here ? list.opened : undefined
  })
  const open = (row: Row | undefined, inNewTab = false) => {
    if (row === undefined) return
    const ids = [...new Set(rows.map(({ trace_id }) => trace_id))]
    rememberList(projectId, { ids, href: here, opened: row.id })
    const href = hrefOf(team, project, row)
    if (inNewTab) window.open(withAsOf(href), '_blank')
    else void navigate({ href })
  }
  const { hasNextPage, isFetchingNextPage, fetchNextPage, isPlaceholderData } = list
  const readOn = () => {
    if (hasNextPage && !isFetchingNextPage && !isPlaceholderData) void fetchNextPage()
  }
  useKeys({ l: () => setAddress({ live: isLive ? '' : '1' }) })
  const { data: summary } = useSummary({ fields: areValuesShown ? FACETS : [], isEnabled: list.isSuccess })
  const { data: sums } = useSums(list.isSuccess)
  const selection = useSelection(rows)
  const showNews = () => {
    void list.refetch()
    for (const kind of ['summary', 'sums']) void queries.invalidateQueries({ queryKey: [kind, projectId] })
  }
  const isFiltered =
    conjunctsIn(filter).length > 0 || q !== '' || range !== '' || roots !== '1' || asOf !== ''
  if (list.isSuccess && rows.length === 0 && !isFiltered)
    return <FirstTrace isLive={() => void list.refetch()} />
  return (
    <div className="page" style={{ flex: 1, minHeight: 0, gap: 8, paddingBlock: 12 }}>
      <div className="bar">
        <h1>{roots === '1' ? 'Traces' : 'Calls'}</h1>
        <FilterBar />
        <span className="spacer" />
        <SavedViews />
        <SegmentedControl
          size="xs"
          aria-label="Traces or all calls"
          data={[
            { value: '1', label: 'Traces' },
            { value: '0', label: 'All calls' },
          ]}
          value={roots}
          onChange={(next) => setAddress({ roots: next })}
        />
        <Toggle label="Live" isOn={isLive} onChange={(isOn) => setAddress({ live: isOn ? '1' : '' })} />
        <Toggle label="Values" isOn={areValuesShown} onChange={(isOn) => setValues(isOn ? 'on' : 'off')} />
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
        <Button className="news" size="xs" onClick={showNews}>
          {fresh >= PAGE ? `${PAGE} or more new` : `${fresh} new`}
        </Button>
      )}
      <Histogram summary={summary} />
      <div className="list-body">
        {areValuesShown && <Facets summary={summary} />}
        <div className="list-rows">
          {list.isError && <Failed error={list.error} what="The list" onRetry={() => void list.refetch()} />}
          {list.isLoading && <Loading what="traces" />}
          {list.isSuccess && rows.length === 0 && <NothingMatches />}
          {rows.length > 0 && (
            <ListTable
              {...{ rows, columns, fields, widths, setWidth, sort, selection, current, setCurrent }}
              onSort={(next) => setAddress({ sort: next })}
              onOpen={open}
              onEnd={readOn}
              isDimmed={isPlaceholderData}
            />
          )}
        </div>
      </div>
      <Searching
        isOn={list.isFetching && !isFetchingNextPage}
        isStopped={!list.isFetching && (list.isPending || isPlaceholderData)}
        onStop={() => void queries.cancelQueries({ queryKey: key })}
        onRetry={() => void list.refetch()}
      >
        {list.isSuccess && rows.length > 0 && (
          <>
            <Totals shown={rows.length} total={summary?.calls} isRoots={roots === '1'} sums={sums} />
            <span className="spacer" />
            <ListActions selection={selection} total={summary?.calls} sortBy={sortOf(sort)} />
          </>
        )}
      </Searching>
      <ErasedCalls count={summary?.erased_calls} />
    </div>
  )
}
