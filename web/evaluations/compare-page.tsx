import { Button, SegmentedControl } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { AppLink } from '../kit/app-link.js'
import { Cost } from '../kit/cost.js'
import { duration, plural, wholeNumber } from '../kit/format.js'
import { useAddress, usePlace } from '../kit/place.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { useTitle } from '../kit/title.js'
import { ComparedScores } from './compared-scores.js'
import { ComparedRows } from './compared-rows.js'
import { nameIn } from './figures.js'
import { letterOf, useComparison, type Comparison, type Only } from './comparison.js'

const MIN_RUNS = 2
const MAX_RUNS = 8

type ComparedRun = Comparison['evaluation_runs'][number]

/** Two to eight runs, each compared with the first one row by row. */
export const ComparePage = () => {
  const { team, project, projectId } = usePlace()
  const [{ runs: named = '', lower: lowerText = '', only: onlyText = '' }, setAddress] = useAddress()
  const runs = useMemo(() => [...new Set(named.split(',').filter((id) => id !== ''))], [named])
  const lower = useMemo(() => listIn(lowerText), [lowerText])
  useTitle(`Compare ${plural(runs.length, 'run')}`)
  if (runs.length < MIN_RUNS || runs.length > MAX_RUNS)
    return (
      <div className="page">
        <Empty title="Choose 2 to 8 runs">
          The first one is the baseline.{' '}
          <Link to="/$team/$project/evaluations" params={{ team, project }}>
            Choose runs in the list
          </Link>
        </Empty>
      </div>
    )
  const only: Only = onlyText === 'improvements' || onlyText === 'all' ? onlyText : 'regressions'
  return (
    <div className="page" style={{ flex: 1, minHeight: 0 }}>
      <div className="bar">
        <h1>Compare {plural(runs.length, 'run')}</h1>
        <span className="spacer" />
        <AppLink href={`/${team}/${project}/evaluations?runs=${runs.map(encodeURIComponent).join(',')}`}>
          Choose other runs
        </AppLink>
      </div>
      <Body
        question={{ projectId, runs, lower }}
        only={only}
        onOnly={(next) => setAddress({ only: next === 'regressions' ? '' : next }, true)}
        onLower={(next) => setAddress({ lower: next.length === 0 ? '' : JSON.stringify(next) }, true)}
        onBaseline={(id) => setAddress({ runs: [id, ...runs.filter((one) => one !== id)].join(',') })}
      />
    </div>
  )
}

const listIn = (text: string): readonly string[] => {
  try {
    const list = JSON.parse(text) as unknown
    return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : []
  } catch {
    return []
  }
}

interface BodyProps {
  readonly question: Parameters<typeof useComparison>[0]
  readonly only: Only
  readonly onOnly: (only: Only) => void
  readonly onLower: (names: readonly string[]) => void
  readonly onBaseline: (id: string) => void
}

const Body = ({ question, only, onOnly, onLower, onBaseline }: BodyProps) => {
  const found = useComparison(question)
  const place = usePlace()
  if (found.isError)
    return <Failed error={found.error} what="The comparison" onRetry={() => void found.refetch()} />
  if (found.isPending) return <Loading what="the comparison" />
  const { evaluation_runs, scores, counts, position } = found.data
  // While another question is asked, what is shown is the answer to the one before.
  const shown = { ...question, runs: evaluation_runs.map(({ evaluation_run_id }) => evaluation_run_id) }
  const isOld = found.isPlaceholderData
  return (
    <>
      <Table
        label="Compared runs"
        columns={columnsOf(place, onBaseline)}
        rows={evaluation_runs.map((run, at) => ({ ...run, at }))}
        keyOf={({ evaluation_run_id }) => evaluation_run_id}
      />
      <ComparedScores runs={evaluation_runs} scores={scores} lower={question.lower} onLower={onLower} />
      <div className="bar">
        <SegmentedControl
          size="xs"
          aria-label="Rows"
          value={only}
          onChange={(value) => onOnly(value)}
          data={[
            { value: 'regressions', label: `Regressions ${wholeNumber(counts.regressions)}` },
            { value: 'improvements', label: `Improvements ${wholeNumber(counts.improvements)}` },
            { value: 'all', label: `All ${wholeNumber(counts.all)}` },
          ]}
        />
        <span className="secondary">
          Worse and better than A; the largest change of any score first. A value leads to its own trace.
        </span>
      </div>
      {counts[only] === 0 ? (
        <div className="notice">
          {counts.all === 0
            ? 'The runs have no example in common.'
            : only === 'regressions'
              ? 'No score of any example is worse than in the baseline.'
              : 'No score of any example is better than in the baseline.'}
        </div>
      ) : (
        <div className={`compared ${isOld ? 'dimmed' : ''}`}>
          <ComparedRows
            key={JSON.stringify([shown.runs, question.lower, only])}
            {...{ question: shown, only, scores, position }}
            count={counts[only]}
          />
        </div>
      )}
    </>
  )
}

type ShownRun = ComparedRun & { readonly at: number }

const columnsOf = (
  { team, project }: { readonly team: string; readonly project: string },
  onBaseline: (id: string) => void,
): readonly Column<ShownRun>[] => [
  {
    label: 'Run',
    cell: ({ at, evaluation_run_id: run, display_name, model }) => (
      <>
        <strong>{letterOf(at)}</strong>{' '}
        <Link to="/$team/$project/evaluations/$run" params={{ team, project, run }} title={run}>
          {display_name ?? nameIn(model) ?? run.slice(0, 8)}
        </Link>
      </>
    ),
  },
  { label: 'Model', cell: ({ model }) => <span title={model ?? ''}>{nameIn(model) ?? '—'}</span> },
  { label: 'Rows', width: 80, isNumber: true, cell: ({ row_count }) => wholeNumber(row_count) },
  {
    label: 'Without a pair',
    width: 120,
    isNumber: true,
    cell: ({ unmatched_count }) => wholeNumber(unmatched_count),
  },
  {
    label: 'Mean cost',
    width: 110,
    isNumber: true,
    cell: ({ mean_cost = null }) => (mean_cost === null ? 'unknown' : <Cost dollars={mean_cost} />),
  },
  {
    label: 'Mean latency',
    width: 110,
    isNumber: true,
    cell: ({ mean_latency = null }) =>
      mean_latency === null ? '—' : duration(Math.round(mean_latency * 1e6)),
  },
  {
    label: '',
    width: 176,
    cell: ({ at, evaluation_run_id }) =>
      at === 0 ? (
        <span className="secondary">baseline</span>
      ) : (
        <Button size="compact-xs" variant="default" onClick={() => onBaseline(evaluation_run_id)}>
          Make {letterOf(at)} the baseline
        </Button>
      ),
  },
]
