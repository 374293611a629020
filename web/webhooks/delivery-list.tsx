import { Button, Checkbox } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { plural, wholeNumber } from '../kit/format.js'
import { rangeOf } from '../kit/range.js'
import { DeliveryState, DELIVERY_STATES, waitingFor } from './delivery-state.js'
import { SelectionActions } from './delivery-actions.js'
import { useKeys } from '../kit/keys.js'
import { useAddress } from '../kit/place.js'
import { ShowMore } from '../kit/show-more.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { Time } from '../kit/time.js'
import { About } from './about.js'

type Delivery = Schemas['Delivery']
type Selection = Schemas['DeliverySelection']
type Filter = Omit<Selection, 'state'>

/** The filter of the address, without its states. */
const useFilter = (team: string, fixed: Filter): Filter => {
  const [{ range = '', q, webhook, automation, event_type, reason, source_event, run, artifact }] =
    useAddress()
  return useMemo(() => {
    const given = { q, webhook, automation, event_type, reason, source_event, run, artifact }
    const chosen = Object.fromEntries(Object.entries(given).filter(([, value]) => value)) as Filter
    return { ...chosen, ...rangeOf(range, Date.now()), ...fixed }
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `fixed` is another object each time, with the same values
  }, [team, range, q, webhook, automation, event_type, reason, source_event, run, artifact])
}

const PAGE = 50

const statesIn = (state: string | undefined): NonNullable<Selection['state']> =>
  (state ?? '').split(',').filter((one) => one !== '') as NonNullable<Selection['state']>

/** The deliveries that the address asks for, with the counts of each state, and actions on a selection. */
export const DeliveryList = ({
  team,
  fixed = {},
  canAct,
}: {
  readonly team: string
  /** What the address cannot change. */
  readonly fixed?: Filter
  readonly canAct: boolean
}) => {
  const [{ state }] = useAddress()
  const navigate = useNavigate()
  const filter = useFilter(team, fixed)
  const states = statesIn(state)
  const list = useInfiniteQuery({
    queryKey: ['deliveries', team, filter, state],
    queryFn: ({ pageParam, signal }) => {
      const only = states.length === 0 ? {} : { state: states.join(',') }
      const after = pageParam === '' ? {} : { after: pageParam }
      const query = { ...filter, team, ...only, ...after, limit: PAGE }
      return dataOf(api.GET('/api/deliveries', { params: { query }, signal }))
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: (before) => before,
    refetchInterval: 10_000,
  })
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data])
  const [at, setAt] = useState(-1)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const toggle = (id: string) =>
    setSelected((before) => {
      const after = new Set(before)
      if (!after.delete(id)) after.add(id)
      return after
    })
  const areAllSelected = rows.length > 0 && rows.every(({ id }) => selected.has(id))
  const pathOf = ({ id }: Delivery) => `/${team}/-/deliveries/${encodeURIComponent(id)}`
  const current = rows[at]
  useKeys({
    j: () => setAt(Math.min(rows.length - 1, at + 1)),
    k: () => setAt(Math.max(0, at - 1)),
    x: () => current && toggle(current.id),
    Enter: () => current && void navigate({ href: pathOf(current) }),
    o: () => current && window.open(pathOf(current), '_blank'),
  })
  const columns: readonly Column<Delivery>[] = [
    ...(canAct
      ? [
          {
            label: '',
            width: 40,
            head: (
              <Checkbox
                size="xs"
                aria-label="Select all that are shown"
                checked={areAllSelected}
                indeterminate={!areAllSelected && selected.size > 0}
                onChange={() => setSelected(new Set(areAllSelected ? [] : rows.map(({ id }) => id)))}
              />
            ),
            cell: (row: Delivery) => (
              <Checkbox
                size="xs"
                aria-label={`Select the delivery of ${row.scheduled_at}`}
                checked={selected.has(row.id)}
                onChange={() => toggle(row.id)}
              />
            ),
          },
        ]
      : []),
    ...columnsIn(team),
  ]
  return (
    <>
      <StateCounts team={team} filter={filter} chosen={states} />
      {canAct && rows.length > 0 && (
        <SelectionActions
          team={team}
          ids={[...selected]}
          filter={{ ...filter, ...(states.length === 0 ? {} : { state: states }) }}
          onDone={() => setSelected(new Set())}
        />
      )}
      {list.isError && (
        <Failed error={list.error} what="The deliveries" onRetry={() => void list.refetch()} />
      )}
      {list.isPending && <Loading what="deliveries" />}
      {list.isSuccess && rows.length === 0 && <NoDeliveries />}
      {rows.length > 0 && (
        <div className={list.isPlaceholderData ? 'dimmed' : undefined}>
          <Table
            label="Deliveries"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            selected={current?.id}
          />
        </div>
      )}
      <div>
        <ShowMore list={list} />
      </div>
    </>
  )
}

const columnsIn = (team: string): readonly Column<Delivery>[] => [
  {
    label: 'State',
    width: 120,
    cell: ({ id, state }) => (
      <Link to="/$team/-/deliveries/$id" params={{ team, id }}>
        <DeliveryState state={state} />
      </Link>
    ),
  },
  { label: 'About', width: 170, cell: ({ source }) => <About stream={source.stream} /> },
  { label: 'Scheduled', width: 150, cell: ({ scheduled_at }) => <Time at={scheduled_at} /> },
  { label: 'Event', width: 170, cell: ({ event_type }) => event_type ?? '—' },
  {
    label: 'Automation',
    width: 140,
    cell: ({ automation, automation_name }) => (
      <Link to="/$team/-/automations/$id" params={{ team, id: automation }}>
        {automation_name ?? 'deleted'}
      </Link>
    ),
  },
  {
    label: 'Webhook',
    width: 130,
    cell: ({ webhook, webhook_name }) =>
      webhook === null ? (
        '—'
      ) : (
        <Link to="/$team/-/webhooks/$id" params={{ team, id: webhook }}>
          {webhook_name ?? 'deleted'}
        </Link>
      ),
  },
  { label: 'Attempts', width: 80, isNumber: true, cell: ({ attempts }) => wholeNumber(attempts) },
  { label: 'Result', cell: (row) => <Result row={row} /> },
]

const Result = ({ row: { status, error, reason, next_at, waiting_reason } }: { readonly row: Delivery }) => {
  const answer = error ?? (status === null ? '' : `status ${status}`)
  if (next_at !== null)
    return (
      <span title={waitingFor(waiting_reason)}>
        {answer}
        {answer !== '' && ', '}next <Time at={next_at} />
      </span>
    )
  if (waiting_reason !== null) return <>waits {waitingFor(waiting_reason)}</>
  return <>{[answer, reason].filter((one) => one).join(', ') || '—'}</>
}

const StateCounts = ({
  team,
  filter,
  chosen,
}: {
  readonly team: string
  readonly filter: Filter
  readonly chosen: readonly string[]
}) => {
  const [, setAddress] = useAddress()
  const counts = useQuery({
    queryKey: ['delivery counts', team, filter],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/deliveries/counts', { params: { query: { ...filter, team } }, signal })),
    placeholderData: (before) => before,
    refetchInterval: 10_000,
  })
  const toggle = (state: string) => {
    const next = chosen.includes(state) ? chosen.filter((one) => one !== state) : [...chosen, state]
    setAddress({ state: next.join(',') })
  }
  return (
    <div className="bar" role="group" aria-label="States" style={{ minHeight: 30 }}>
      {DELIVERY_STATES.filter(
        ({ value }) => chosen.includes(value) || (counts.data?.by_state[value] ?? 0) > 0,
      ).map(({ value, label }) => (
        <Button
          key={value}
          size="compact-sm"
          variant={chosen.includes(value) ? 'filled' : 'default'}
          aria-pressed={chosen.includes(value)}
          onClick={() => toggle(value)}
        >
          {label} {wholeNumber(counts.data?.by_state[value] ?? 0)}
        </Button>
      ))}
      <span className="secondary">
        {counts.data === undefined ? '' : plural(counts.data.total, 'delivery', 'deliveries')}
      </span>
    </div>
  )
}

const NoDeliveries = () => {
  const [search, setAddress] = useAddress()
  const names = Object.keys(search).filter((name) => search[name] !== '')
  if (names.length === 0)
    return (
      <Empty title="Nothing was delivered yet">
        When an event matches an automation, its message appears here with every attempt to send it.
      </Empty>
    )
  return (
    <Empty title="No delivery matches the filter">
      <Button
        variant="default"
        size="compact-sm"
        mt={8}
        onClick={() => setAddress(Object.fromEntries(names.map((name) => [name, ''])))}
      >
        Clear the filter
      </Button>
    </Empty>
  )
}
