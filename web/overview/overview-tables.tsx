import type { ReactNode } from 'react'
import { AppLink } from '../kit/app-link.js'
import { Cost } from '../kit/cost.js'
import { duration, shortNumber, wholeNumber } from '../kit/format.js'
import type { Place } from '../kit/place.js'
import { Table, type Column } from '../kit/table.js'
import { Time } from '../kit/time.js'
import { isEqual } from '../traces/filter.js'
import { usesModel } from './overview-chart.js'
import type { TimeRange } from './buckets.js'
import { changeText } from './change.js'
import { linkTo, type ErrorGroup, type Overview } from './overview-data.js'

interface Used {
  readonly tokens: number
  readonly cost: number | null
  readonly unpriced: boolean
}

const cost: Column<Used> = {
  label: 'Cost',
  width: 104,
  isNumber: true,
  cell: ({ tokens, cost: dollars, unpriced }) =>
    dollars === null ? (
      <span className="secondary">no price</span>
    ) : tokens === 0 && dollars === 0 ? (
      '—'
    ) : (
      <Cost dollars={dollars} unpriced={unpriced} />
    ),
}

const tokens: Column<Used> = {
  label: 'Tokens',
  width: 80,
  isNumber: true,
  cell: ({ tokens: used }) => <span title={wholeNumber(used)}>{shortNumber(used)}</span>,
}

const errors = (of: (row: { calls?: number; traces?: number }) => number): Column<Failing> => ({
  label: 'Errors',
  width: 72,
  isNumber: true,
  cell: (row) => (
    <span
      title={`${wholeNumber(row.errors)} of ${wholeNumber(of(row))}`}
      style={row.errors > 0 ? { color: 'var(--danger)' } : undefined}
    >
      {row.errors === 0 ? '—' : wholeNumber(row.errors)}
    </span>
  ),
})

interface Failing {
  readonly errors: number
  readonly calls?: number
  readonly traces?: number
}

/** A table of at most eight rows, whose place has the final size from the start. */
const Eight = ({
  title,
  isEmpty,
  empty,
  children,
}: {
  readonly title: string
  readonly isEmpty: boolean
  readonly empty: string
  readonly children: ReactNode
}) => (
  <section className="eight" aria-label={title}>
    <h2>{title}</h2>
    {isEmpty ? <p className="secondary">{empty}</p> : children}
  </section>
)

interface TablesProps {
  readonly place: Place
  readonly shown: (Overview & { readonly range: TimeRange }) | undefined
}

export const OverviewTables = ({ place, shown }: TablesProps) => {
  const { range = { start: '', end: '' }, user_field = '', ops = [], models = [], users = [] } = shown ?? {}
  const loaded = shown !== undefined
  return (
    <>
      <Eight title="Ops" isEmpty={loaded && ops.length === 0} empty="No calls in this range.">
        <Table
          label="Ops"
          rows={ops}
          keyOf={({ op }) => op}
          columns={[
            {
              label: 'Op',
              cell: ({ op }) => (
                <AppLink
                  className="strong"
                  title={op}
                  href={linkTo(place, range, [isEqual('summary.weave.op', op)], { all: true })}
                >
                  {op}
                </AppLink>
              ),
            },
            { label: 'Calls', width: 80, isNumber: true, cell: ({ calls }) => wholeNumber(calls) },
            errors(({ calls = 0 }) => calls),
            {
              label: 'p95',
              width: 88,
              isNumber: true,
              cell: ({ p95_ms }) => (p95_ms === null ? '—' : duration(p95_ms * 1000)),
            },
            cost,
          ]}
        />
      </Eight>
      <Eight title="Models" isEmpty={loaded && models.length === 0} empty="No usage of models in this range.">
        <Table
          label="Models"
          rows={models}
          keyOf={({ model }) => model}
          columns={[
            {
              label: 'Model',
              cell: ({ model }) => (
                <AppLink
                  className="strong"
                  title={model}
                  href={linkTo(place, range, [usesModel(model)], { all: true })}
                >
                  {model}
                </AppLink>
              ),
            },
            { label: 'Calls', width: 80, isNumber: true, cell: ({ calls }) => wholeNumber(calls) },
            tokens,
            cost,
            {
              label: 'Change',
              width: 96,
              isNumber: true,
              cell: ({ cost: now, previous_cost: before }) => changeText(now, before),
            },
          ]}
        />
      </Eight>
      <Eight
        title={user_field === 'wb_user_id' ? 'Users' : 'End users'}
        isEmpty={loaded && users.length === 0}
        empty="No trace in this range names a user."
      >
        <Table
          label="Users"
          rows={users}
          keyOf={({ user }) => user}
          columns={[
            {
              label: 'User',
              cell: ({ user }) => (
                <AppLink
                  className="strong"
                  title={user}
                  href={linkTo(place, range, [isEqual(user_field, user)])}
                >
                  {user}
                </AppLink>
              ),
            },
            { label: 'Traces', width: 80, isNumber: true, cell: ({ traces }) => wholeNumber(traces) },
            errors(({ traces = 0 }) => traces),
            tokens,
            cost,
          ]}
        />
      </Eight>
    </>
  )
}

export const FailuresTable = ({
  place,
  data,
  range,
}: {
  readonly place: Place
  readonly data: readonly ErrorGroup[] | undefined
  readonly range: TimeRange | undefined
}) => (
  <Eight title="Newest failures" isEmpty={data?.length === 0} empty="No call failed in this range.">
    <Table
      label="Newest failures"
      rows={data ?? []}
      keyOf={({ op, error }) => JSON.stringify([op, error])}
      columns={[
        {
          label: 'Error',
          cell: ({ op, error }) => (
            <AppLink
              title={error}
              href={linkTo(
                place,
                range!,
                [
                  isEqual('summary.weave.status', 'error'),
                  isEqual('summary.weave.op', op),
                  isEqual('summary.weave.error', error),
                ],
                { all: true },
              )}
            >
              {error === '' ? 'no text' : error}
            </AppLink>
          ),
        },
        { label: 'Op', width: 104, cell: ({ op }) => <span title={op}>{op}</span> },
        { label: 'Count', width: 64, isNumber: true, cell: ({ count }) => `×\u2009${wholeNumber(count)}` },
        { label: 'First', width: 112, cell: ({ first_at }) => <Time at={first_at} /> },
        {
          label: 'Newest call',
          width: 112,
          cell: ({ last_at, trace_id, call_id }) => (
            <AppLink
              href={`/${place.team}/${place.project}/traces/${encodeURIComponent(trace_id)}?call=${encodeURIComponent(call_id)}`}
            >
              <Time at={last_at} />
            </AppLink>
          ),
        },
      ]}
    />
  </Eight>
)
