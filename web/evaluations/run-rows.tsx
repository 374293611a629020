import { Button, Select, TextInput } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { api, type Schemas } from '../kit/api.js'
import { Cost } from '../kit/cost.js'
import { duration, plural } from '../kit/format.js'
import { useKeys } from '../kit/keys.js'
import { Name } from '../kit/marked.js'
import { onSubmit } from '../kit/on-submit.js'
import { useAddress, usePlace } from '../kit/place.js'
import { ShowMore } from '../kit/show-more.js'
import { Failed, Loading } from '../kit/states.js'
import { scoreAt, scoreName, type Run, type ScoreField } from './figures.js'
import { fieldText, filterIn, filtersOf, orderOf } from './row-filter.js'
import { ScoreCell } from './score-bar.js'
import { TrialPanel } from './trial-panel.js'

const PAGE = 50

type Row = Schemas['EvaluationTrialRow']
type Field = Schemas['RunScoreField']

/** The rows of a run: filtered and sorted by scores, with a panel for the trials of the open row. */
export const RunRows = ({ run, fields }: { readonly run: Run; readonly fields: readonly Field[] }) => {
  const { projectId } = usePlace()
  const [search, setAddress] = useAddress()
  const { row: opened = '', sort = '', score = '', only = '' } = search
  const question = {
    project_id: projectId,
    evaluation_run_id: run.id,
    filters: filtersOf(filterIn(search)),
    sort_by: orderOf(search),
    limit: PAGE,
  }
  const list = useInfiniteQuery({
    queryKey: ['evaluations', 'rows', projectId, run.id, run.rows, score, only, sort],
    queryFn: async ({ pageParam: { offset, position }, signal }) => {
      const { data, response } = await api.POST('/api/pages/evaluation-rows', {
        body: { ...question, offset },
        headers: position === '' ? {} : { 'Tallytree-As-Of': position },
        signal,
      })
      return { ...data!, position: response.headers.get('tallytree-position') ?? '' }
    },
    initialPageParam: { offset: 0, position: '' },
    getNextPageParam: ({ total, position }, pages) =>
      pages.length * PAGE < total ? { offset: pages.length * PAGE, position } : undefined,
    placeholderData: (before) => before,
  })
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data])
  const trials = useMemo(() => list.data?.pages.flatMap(({ trial_ids }) => trial_ids) ?? [], [list.data])
  const [current, setCurrent] = useState(opened)
  const at = rows.findIndex(({ id }) => id === current)
  const open = (id: string | undefined) => {
    if (id !== undefined) setCurrent(id)
    setAddress({ row: id ?? '' }, true)
  }
  const move = (step: number) => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + step))]?.id
    setCurrent(next ?? '')
    if (opened !== '') setAddress({ row: next ?? '' }, true)
    if (next !== undefined) document.getElementById(`row-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => open(rows[at]?.id),
    Escape: () => open(undefined),
  })
  const total = list.data?.pages[0]?.total ?? 0
  const openedTrials = trials.find(([first]) => first === opened) ?? (opened === '' ? [] : [opened])
  return (
    <section aria-label="Rows" className="run-rows">
      <div className="bar">
        <h2>Rows</h2>
        <RowFilterForm fields={fields} />
        <span className="spacer" />
        <span className="secondary" role="status">
          {list.isSuccess && plural(total, 'row')}
        </span>
      </div>
      {list.isError && <Failed error={list.error} what="The rows" onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading what="rows" />}
      {list.isSuccess && total === 0 && (
        <div className="notice">
          {only === '' ? 'The run has no rows yet.' : 'No row meets the condition.'}{' '}
          {only !== '' && (
            <Button size="compact-xs" variant="default" onClick={() => setAddress({ only: '', score: '' })}>
              Show all rows
            </Button>
          )}
        </div>
      )}
      {rows.length > 0 && (
        <div className="split" data-open={opened !== '' || undefined}>
          <div className={list.isPlaceholderData ? 'dimmed' : undefined}>
            <RowsTable
              {...{ rows, fields, current, open, sort }}
              onSort={(next) => setAddress({ sort: next }, true)}
            />
            <div style={{ marginTop: 8 }}>
              <ShowMore list={list} />
            </div>
          </div>
          {opened !== '' && <TrialPanel ids={openedTrials} onClose={() => open(undefined)} />}
        </div>
      )}
    </section>
  )
}

interface TableProps {
  readonly rows: readonly Row[]
  readonly fields: readonly Field[]
  readonly current: string
  readonly open: (id: string) => void
  readonly sort: string
  readonly onSort: (sort: string) => void
}

const RowsTable = ({ rows, fields, current, open, sort, onSort }: TableProps) => (
  <div className="scroll">
    <table className="table" style={{ minWidth: 652 + 110 * fields.length }} aria-label="Rows of the run">
      <thead>
        <tr>
          <th scope="col">Input</th>
          <th scope="col">Expected</th>
          <th scope="col">Output</th>
          {fields.map((field) => (
            <th
              key={scoreName(field)}
              scope="col"
              className="number"
              style={{ width: 110 }}
              title={scoreName(field)}
              aria-sort={sortedBy(field, sort)}
            >
              <button type="button" onClick={() => onSort(nextSort(field, sort))}>
                {scoreName(field)}
                {sortedBy(field, sort) === 'ascending'
                  ? ' ↑'
                  : sortedBy(field, sort) === 'descending'
                    ? ' ↓'
                    : ''}
              </button>
            </th>
          ))}
          <th scope="col" className="number" style={{ width: 96 }}>
            Latency
          </th>
          <th scope="col" className="number" style={{ width: 96 }}>
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at} id={`row-${row.id}`} data-selected={row.id === current || undefined}>
            <td title={lineOf(row.input)}>
              <button type="button" className="link" onClick={() => open(row.id)}>
                <Name text={lineOf(row.input) || 'no input'} />
              </button>
            </td>
            <td title={lineOf(row.expected)}>
              {row.expected === null ? (
                <span className="secondary">—</span>
              ) : (
                <Name text={lineOf(row.expected)} />
              )}
            </td>
            <td title={lineOf(row.output)} className={row.exception === null ? undefined : 'error-text'}>
              <Name text={row.exception ?? lineOf(row.output)} />
            </td>
            {fields.map((field) => (
              <td key={scoreName(field)} className="number">
                <ScoreCell value={scoreAt(row.scores, field)} isFinished={row.is_finished} />
              </td>
            ))}
            <td className="number">{row.latency === null ? '—' : duration(Math.round(row.latency * 1e6))}</td>
            <td className="number">{row.cost === null ? 'unknown' : <Cost dollars={row.cost} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** Lists have a line of text of each payload. */
const lineOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const sortedBy = (field: ScoreField, sort: string): 'ascending' | 'descending' | 'none' =>
  sort === fieldText(field) ? 'ascending' : sort === `-${fieldText(field)}` ? 'descending' : 'none'

/** The worst first, then the best first, then the usual order. */
const nextSort = (field: ScoreField, sort: string): string => {
  const text = fieldText(field)
  return sort === text ? `-${text}` : sort === `-${text}` ? '' : text
}

const ANY = 'any'

const RowFilterForm = ({ fields }: { readonly fields: readonly Field[] }) => {
  const [{ score = '', only = '' }, setAddress] = useAddress()
  const kind = fields.find((field) => fieldText(field) === score)?.kind
  const [op = 'lt', number = ''] = /^(lt|gt):/.test(only) ? only.split(':') : []
  const [text, setText] = useState(number)
  useEffect(() => setText(number), [number])
  const conditions = [
    { value: '', label: 'all rows' },
    { value: 'missing', label: score === '' ? 'row or a scorer failed' : 'without a score' },
    ...(kind === 'boolean'
      ? [
          { value: 'failed', label: 'failed' },
          { value: 'passed', label: 'passed' },
        ]
      : []),
    ...(kind === 'number'
      ? [
          { value: 'lt', label: 'less than' },
          { value: 'gt', label: 'more than' },
        ]
      : []),
  ]
  const [chosen, setChosen] = useState(only.split(':')[0]!)
  useEffect(() => setChosen(only.split(':')[0]!), [only])
  const apply = () => {
    if (text.trim() !== '' && Number.isFinite(Number(text))) setAddress({ only: `${chosen}:${Number(text)}` })
  }
  return (
    <form className="bar" onSubmit={onSubmit(apply)}>
      <Select
        size="xs"
        w={170}
        aria-label="Score"
        allowDeselect={false}
        value={score === '' ? ANY : score}
        data={[
          { value: ANY, label: 'Any score' },
          ...fields.map((field) => ({ value: fieldText(field), label: scoreName(field) })),
        ]}
        onChange={(value) => setAddress({ score: value === ANY ? '' : (value ?? ''), only: '' })}
      />
      <Select
        size="xs"
        w={170}
        aria-label="Condition"
        allowDeselect={false}
        value={chosen}
        data={conditions}
        onChange={(value) => {
          setChosen(value ?? '')
          if (value !== 'lt' && value !== 'gt') setAddress({ only: value ?? '' })
        }}
      />
      {(chosen === 'lt' || chosen === 'gt') && (
        <TextInput
          size="xs"
          w={90}
          aria-label={op === 'gt' ? 'More than' : 'Less than'}
          inputMode="decimal"
          value={text}
          error={text !== '' && !Number.isFinite(Number(text))}
          onChange={(event) => setText(event.currentTarget.value)}
          onBlur={apply}
        />
      )}
    </form>
  )
}
