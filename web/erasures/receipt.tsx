import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { plural, shortNumber } from '../kit/format.js'
import { Failed, Loading } from '../kit/states.js'
import { Time } from '../kit/time.js'

type Erasure = Schemas['Erasure']
interface OfProject {
  readonly path: { readonly entity: string; readonly project: string }
}

const EVERY_MS = 1000

const STATES: Readonly<Record<Erasure['state'], string>> = {
  selecting: 'Selecting the calls',
  erasing: 'Erasing the log',
  clearing: 'Clearing the read models',
  finished: 'Erased',
}

const Progress = ({ erasure }: { readonly erasure: Erasure }) => {
  const { state, calls, selected_calls, events, bytes, unreadable, finished_at } = erasure
  return (
    <>
      <strong>{STATES[state]}</strong>
      {finished_at && (
        <>
          {' '}
          <Time at={finished_at} />
        </>
      )}
      : {selected_calls > 0 && `${calls} of `}
      {plural(selected_calls > 0 ? selected_calls : calls, 'call')}, {plural(events, 'event')},{' '}
      {shortNumber(bytes)} bytes
      {unreadable > 0 && `; ${plural(unreadable, 'damaged event')} left as found`}
    </>
  )
}

/** The progress of an erasure, and its receipt once it is done. */
export const Receipt = ({
  path,
  id,
  ofDeleted = false,
}: OfProject & {
  readonly id: string
  /** The project was deleted: nothing else of it can be read again. */
  readonly ofDeleted?: boolean
}) => {
  const queries = useQueryClient()
  const erasure = useQuery({
    queryKey: ['erasures', path, id],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/api/projects/{entity}/{project}/erasures/{id}', {
          params: { path: { ...path, id } },
          signal,
        }),
      ),
    refetchInterval: ({ state: { data } }) => (data?.state === 'finished' ? false : EVERY_MS),
  })
  const isFinished = erasure.data?.state === 'finished'
  useEffect(() => {
    if (isFinished && !ofDeleted)
      void queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => name !== 'erasures' })
  }, [isFinished, ofDeleted, queries])
  if (erasure.isError) return <Failed error={erasure.error} what="The erasure" />
  if (erasure.data === undefined) return <Loading what="erasure" />
  return (
    <div role="status">
      <p>
        <Progress erasure={erasure.data} />
      </p>
      {!isFinished && <p className="secondary">You may leave this page: it goes on.</p>}
      {erasure.data.positions.length > 0 && (
        <p className="secondary mono">Events {erasure.data.positions.join(',').slice(0, MOST_SHOWN)}</p>
      )}
    </div>
  )
}

const MOST_SHOWN = 300

/** The latest erasures of a project, newest first. */
export const Erasures = ({ path }: OfProject) => {
  const erasures = useQuery({
    queryKey: ['erasures', path],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/projects/{entity}/{project}/erasures', { params: { path }, signal })),
    refetchInterval: ({ state: { data } }) =>
      data?.data.some(({ state }) => state !== 'finished') === true ? EVERY_MS : false,
  })
  const { data = [] } = erasures.data ?? {}
  if (data.length === 0) return null
  return (
    <section aria-label="Erasures">
      <h3>Erasures</h3>
      <ul>
        {data.slice(0, MOST_LISTED).map((erasure) => (
          <li key={erasure.id}>
            <Progress erasure={erasure} />
            <div className="secondary">
              {erasure.requested_by}: {erasure.reason}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

const MOST_LISTED = 10
