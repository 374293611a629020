import { Button, Select } from '@mantine/core'
import { useState } from 'react'
import { plural, wholeNumber } from '../kit/format.js'
import { useKeys } from '../kit/keys.js'
import { Name } from '../kit/marked.js'
import { useAddress, usePlace } from '../kit/place.js'
import { SearchBox } from '../kit/search-box.js'
import { ShowMore } from '../kit/show-more.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { Time } from '../kit/time.js'
import { useTitle } from '../kit/title.js'
import { About } from '../webhooks/about.js'
import { EventPanel } from './event-panel.js'
import { EVENT_TYPES, wordsOf } from './event-types.js'
import { useHistory, type HistoryEvent } from './history-data.js'
import { Sealed } from './sealed.js'

/** The events of a project, newest first. */
export const HistoryPage = () => {
  useTitle('History')
  const { projectId } = usePlace()
  const [{ event = '' }, setAddress] = useAddress()
  const list = useHistory()
  const rows = list.data?.pages.flatMap(({ events }) => events) ?? []
  const [current, setCurrent] = useState<string>()
  const at = rows.findIndex(({ position }) => position === current)
  const open = (row: HistoryEvent | undefined) => row && setAddress({ event: row.position }, true)
  const move = (step: number) => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + step))]
    setCurrent(next?.position)
    if (event !== '') open(next)
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => open(rows[at]),
    Escape: () => setAddress({ event: '' }, true),
  })
  return (
    <div className="page">
      <h1>History</h1>
      <Filters />
      <Sealed />
      <div className="split" data-open={event !== '' || undefined}>
        <div>
          {list.isError && (
            <Failed error={list.error} what="The history" onRetry={() => void list.refetch()} />
          )}
          {list.isPending && <Loading what="events" />}
          {list.isSuccess && rows.length === 0 && !list.hasNextPage && <NoEvents projectId={projectId} />}
          {rows.length > 0 && (
            <Table
              label="Events"
              columns={columnsFor(open)}
              rows={rows}
              keyOf={({ position }) => position}
              selected={event === '' ? current : event}
            />
          )}
          {list.isSuccess && <Footer list={list} count={rows.length} />}
        </div>
        {/^\d{1,18}$/.test(event) && (
          <EventPanel key={event} position={event} onClose={() => setAddress({ event: '' }, true)} />
        )}
      </div>
    </div>
  )
}

const CHOICES = [
  { value: '', label: 'All changes' },
  { value: 'all', label: 'All events' },
  ...EVENT_TYPES.map(([thing, types]) => ({
    group: thing,
    items: types.split(' ').map((type) => ({ value: type, label: wordsOf(type) })),
  })),
]

const Filters = () => {
  const [{ types = '', object = '' }, setAddress] = useAddress()
  return (
    <div className="bar" role="search">
      <Select
        size="xs"
        aria-label="Events"
        searchable
        allowDeselect={false}
        value={types === '' && object !== '' ? 'all' : types}
        data={CHOICES}
        onChange={(value) => setAddress({ types: value ?? '' })}
        w={200}
      />
      <SearchBox name="actor" label="By whom" placeholder="By whom" />
      <SearchBox name="object" label="Id or name of an object" placeholder="Call, run, webhook …" />
    </div>
  )
}

const columnsFor = (open: (event: HistoryEvent) => void): readonly Column<HistoryEvent>[] => [
  { label: 'When', width: 136, cell: ({ recorded_at }) => <Time at={recorded_at ?? null} /> },
  {
    label: 'Event',
    cell: (event) => (
      <button type="button" className="link" title={event.type} onClick={() => open(event)}>
        {wordsOf(event.type)}
        {event.unreadable !== undefined && ', damaged'}
      </button>
    ),
  },
  { label: 'Object', cell: ({ stream }) => <About stream={stream} /> },
  {
    label: 'By',
    width: 112,
    cell: ({ metadata }) => (metadata?.actor === undefined ? '—' : <Name text={metadata.actor} />),
  },
  { label: 'Position', width: 88, isNumber: true, cell: ({ position }) => wholeNumber(Number(position)) },
]

const Footer = ({
  list,
  count,
}: {
  readonly list: ReturnType<typeof useHistory>
  readonly count: number
}) => {
  const last = list.data?.pages.at(-1)
  return (
    <div className="bar secondary" style={{ minHeight: 28 }}>
      {count > 0 && plural(count, 'event')}
      {last?.isUnfinished === true ? (
        <>
          <span role="status">
            Searched back to position {wholeNumber(Number(last.next))} of the log, and not further.
          </span>
          <Button
            size="compact-sm"
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            Search further
          </Button>
        </>
      ) : (
        <ShowMore list={list} />
      )}
    </div>
  )
}

const NoEvents = ({ projectId }: { readonly projectId: string }) => {
  const [{ types = '', actor = '', object = '' }, setAddress] = useAddress()
  if (types === '' && actor === '' && object === '')
    return (
      <Empty title={`No changes in ${projectId} yet`}>
        What is published, changed or deleted in the project is listed here, with the user who did it. Starts
        and ends of calls are among all events.
      </Empty>
    )
  return (
    <Empty title="No event matches">
      <Button
        size="compact-sm"
        variant="default"
        mt={8}
        onClick={() => setAddress({ types: '', actor: '', object: '' })}
      >
        Clear the filter
      </Button>
    </Empty>
  )
}
