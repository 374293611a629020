import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { api } from '../kit/api.js'
import { AppLink } from '../kit/app-link.js'
import { plural } from '../kit/format.js'
import { withAsOf } from '../kit/as-of.js'
import { useKeys } from '../kit/keys.js'
import { useAddress, usePlace } from '../kit/place.js'
import { SearchBox } from '../kit/search-box.js'
import { ShowMore } from '../kit/show-more.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { useTitle } from '../kit/title.js'
import { useComparisonAhead } from './comparison.js'
import { FirstEvaluation } from './first-evaluation.js'
import { groupsOf, meansIn, type Run } from './figures.js'
import { RunTable } from './run-table.js'

const PAGE = 50
const EVERY_MS = 3000
/** As many columns of scores fit on a screen of 1,440 pixels. */
const FEW_SCORES = 3
const MAX_COMPARED = 8

const hrefOf = (team: string, project: string, id: string): string =>
  `/${team}/${project}/evaluations/${encodeURIComponent(id)}`

/** The evaluation runs of a project by evaluation, newest first; 2 to 8 of them can be compared. */
export const EvaluationsPage = () => {
  useTitle('Evaluations')
  const { team, project, projectId } = usePlace()
  const [{ q = '', runs = '', scores = '' }, setAddress] = useAddress()
  const navigate = useNavigate()
  const list = useInfiniteQuery({
    queryKey: ['evaluations', 'list', projectId, q],
    queryFn: async ({ pageParam: { offset, position }, signal }) => {
      const { data, response } = await api.POST('/api/pages/evaluations', {
        body: { project_id: projectId, q, limit: PAGE, offset },
        headers: position === '' ? {} : { 'Tallytree-As-Of': position },
        signal,
      })
      return { ...data!, position: response.headers.get('tallytree-position') ?? '' }
    },
    initialPageParam: { offset: 0, position: '' },
    getNextPageParam: ({ has_more, position }, pages) =>
      has_more ? { offset: pages.length * PAGE, position } : undefined,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.length === 1 && data.pages[0]!.rows.some(({ status }) => status === 'running')
        ? EVERY_MS
        : false,
    placeholderData: (before) => before,
  })
  const groups = useMemo(() => groupsOf(list.data?.pages.flatMap(({ rows }) => rows) ?? []), [list.data])
  const rows = useMemo(() => groups.flat(), [groups])
  const means = useMemo(() => meansIn(rows), [rows])
  const shownMeans = scores === 'all' ? means : means.slice(0, FEW_SCORES)
  const chosen = runs === '' ? [] : runs.split(',')
  const [current, setCurrent] = useState<string>()
  const at = rows.findIndex(({ id }) => id === current)
  const toggle = (id: string | undefined) => {
    if (id === undefined) return
    const next = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]
    setAddress({ runs: next.join(',') }, true)
  }
  const move = (step: number) => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + step))]
    setCurrent(next?.id)
    if (next !== undefined) document.getElementById(`run-${next.id}`)?.scrollIntoView({ block: 'nearest' })
  }
  const canCompare = chosen.length >= 2 && chosen.length <= MAX_COMPARED
  useComparisonAhead({ projectId, runs: chosen, lower: [] }, canCompare)
  const compareHref = `/${team}/${project}/evaluations/compare?runs=${chosen.map(encodeURIComponent).join(',')}`
  const open = (run: Run | undefined) =>
    run !== undefined && void navigate({ href: hrefOf(team, project, run.id) })
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    x: () => toggle(rows[at]?.id),
    Enter: () => open(rows[at]),
    o: () => rows[at] !== undefined && window.open(withAsOf(hrefOf(team, project, rows[at].id)), '_blank'),
    c: () => canCompare && void navigate({ href: compareHref }),
  })
  return (
    <div className="page">
      <div className="bar">
        <h1>Evaluations</h1>
        <SearchBox label="Search runs by name, evaluation and model" />
        <span className="spacer" />
        <Link to="/$team/$project/evaluations/leaderboards" params={{ team, project }}>
          Leaderboards
        </Link>
        <Link to="/$team/$project/evaluations/rules" params={{ team, project }}>
          Rules
        </Link>
        {canCompare ? (
          <Button size="compact-sm" component={AppLink} href={compareHref}>
            Compare {plural(chosen.length, 'run')}
          </Button>
        ) : (
          <Button size="compact-sm" variant="default" disabled>
            {chosen.length > MAX_COMPARED ? 'At most 8 runs can be compared' : 'Compare 2 to 8 runs'}
          </Button>
        )}
      </div>
      {list.isError && <Failed error={list.error} what="The runs" onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading what="runs" />}
      {list.isSuccess && rows.length === 0 && (q === '' ? <FirstEvaluation /> : <NothingFound q={q} />)}
      {rows.length > 0 && (
        <RunTable
          groups={groups}
          means={shownMeans}
          chosen={chosen}
          current={current}
          onToggle={toggle}
          hrefOf={(id) => hrefOf(team, project, id)}
        />
      )}
      <div className="bar secondary" hidden={rows.length === 0} style={{ minHeight: 28 }}>
        {plural(rows.length, 'run')}
        {list.hasNextPage && ' shown, more below'}
        {means.length > FEW_SCORES && (
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => setAddress({ scores: scores === 'all' ? '' : 'all' }, true)}
          >
            {scores === 'all' ? `Show ${FEW_SCORES} scores` : `Show all ${means.length} scores`}
          </Button>
        )}
        <ShowMore list={list} />
      </div>
    </div>
  )
}

const NothingFound = ({ q }: { readonly q: string }) => {
  const [, setAddress] = useAddress()
  return (
    <Empty title="No run matches">
      No name, evaluation or model contains “{q}”.{' '}
      <Button size="compact-xs" variant="default" onClick={() => setAddress({ q: '' })}>
        Clear the search
      </Button>
    </Empty>
  )
}
