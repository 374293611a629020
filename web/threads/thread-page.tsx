import { Button, SegmentedControl } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { AppLink } from '../kit/app-link.js'
import { duration, plural, wholeNumber } from '../kit/format.js'
import { useKeys } from '../kit/keys.js'
import { Name } from '../kit/marked.js'
import { useAddress, useIdInPath, usePlace } from '../kit/place.js'
import { Failed, Loading } from '../kit/states.js'
import { Time } from '../kit/time.js'
import { useTitle } from '../kit/title.js'
import { callsHref } from '../traces/address.js'
import { CallDetail } from '../traces/call-detail.js'
import { operandOf } from '../traces/filter.js'
import { ShownSideControl, type ShownSide } from '../traces/shown-side.js'
import { Errors, ThreadCost } from './list-page.js'
import { headOf, useThread, type Thread, type Turn } from './thread-data.js'
import { DENSITIES, TurnView, type Density } from './turn-view.js'

/** A thread as a chat, and the call of the selected turn. */
export const ThreadPage = () => {
  const threadId = useIdInPath('thread')
  const pages = useThread(threadId)
  const loaded = pages.data?.pages ?? []
  const thread = loaded[0]?.thread
  useTitle(thread?.first_message ?? threadId)
  if (pages.isError)
    return (
      <div className="page">
        <Failed error={pages.error} what="The thread" onRetry={() => void pages.refetch()} />
      </div>
    )
  if (thread === undefined)
    return (
      <div className="page">
        <Loading what="the thread" />
      </div>
    )
  return (
    <ThreadView
      key={threadId}
      thread={thread}
      turns={loaded.flatMap(({ turns }) => turns)}
      more={pages.hasNextPage ? pages.fetchNextPage : undefined}
      isFetchingMore={pages.isFetchingNextPage}
    />
  )
}

interface ThreadViewProps {
  readonly thread: Thread
  readonly turns: readonly Turn[]
  /** Reads more turns, if there are any. */
  readonly more: (() => unknown) | undefined
  readonly isFetchingMore: boolean
}

const ThreadView = ({ thread, turns, more, isFetchingMore }: ThreadViewProps) => {
  const { team, project } = usePlace()
  const [{ turn: turnId = '', density: chosen = '' }, setAddress] = useAddress()
  const navigate = useNavigate()
  const [shown, setShown] = useState<ShownSide>(turnId === '' ? 'list' : 'call')
  const density = DENSITIES.find((one) => one === chosen) ?? 'messages'
  const at = turnId === '' ? 0 : turns.findIndex(({ id }) => id === turnId)
  const selected = turns[at]
  useEffect(() => {
    if (at < 0 && more !== undefined && !isFetchingMore) more()
  }, [at, more, isFetchingMore])
  const select = (index: number) => {
    const next = turns[index]
    if (next === undefined) return
    setAddress({ turn: index === 0 ? '' : next.id }, true)
    document.getElementById(`turn-${next.id}`)?.scrollIntoView({ block: 'nearest' })
  }
  const setDensity = (next: Density) => setAddress({ density: next === 'messages' ? '' : next }, true)
  useKeys({
    j: () => select(at + 1),
    k: () => select(at - 1),
    v: () => setDensity(DENSITIES[(DENSITIES.indexOf(density) + 1) % DENSITIES.length]!),
  })
  const traceOf = ({ trace_id }: Turn) => `/${team}/${project}/traces/${encodeURIComponent(trace_id)}`
  return (
    <>
      <div className="page" style={{ paddingBottom: 8, gap: 8 }}>
        <h1 className="one-line">
          <Name text={thread.first_message ?? thread.thread_id} />
        </h1>
        <ThreadTotals thread={thread} />
        <div className="bar">
          <SegmentedControl
            size="xs"
            aria-label="Density"
            value={density}
            onChange={(next) => setDensity(next)}
            data={DENSITIES.map((value) => ({ value, label: value[0]!.toUpperCase() + value.slice(1) }))}
          />
          <ShownSideControl list="Thread" shown={shown} onChange={setShown} />
          {turnId !== '' && at < 0 && more === undefined && (
            <span style={{ color: 'var(--warn)' }}>The turn of this link is not in the thread any more.</span>
          )}
        </div>
      </div>
      <div className="trace" data-shown={shown} style={{ borderTop: '1px solid var(--border)' }}>
        <section className="turns" aria-label="Turns" tabIndex={0}>
          <ol>
            {turns.map((turn, index) => (
              <TurnView
                key={turn.id}
                turn={turn}
                number={index + 1}
                density={density}
                isSelected={index === at}
                onSelect={() => select(index)}
              />
            ))}
          </ol>
          {more !== undefined && (
            <Button size="compact-sm" variant="default" loading={isFetchingMore} onClick={() => more()}>
              Show more turns
            </Button>
          )}
        </section>
        <section className="trace-detail" aria-label="Selected turn" tabIndex={0}>
          {selected !== undefined && (
            <CallDetail
              call={headOf(selected)}
              onSelect={(id) =>
                void navigate({ href: `${traceOf(selected)}?call=${encodeURIComponent(id)}` })
              }
            >
              <AppLink href={`${traceOf(selected)}?call=${encodeURIComponent(selected.id)}`}>
                Open the trace
              </AppLink>
            </CallDetail>
          )}
        </section>
      </div>
    </>
  )
}

const ThreadTotals = ({ thread }: { readonly thread: Thread }) => {
  const place = usePlace()
  const { end_user: user, p50_turn_duration_ms: p50, p99_turn_duration_ms: p99 } = thread
  const callsWith = (field: string, value: string) =>
    callsHref(place, { conditions: [operandOf({ field, operator: 'equals', value })], all: true })
  return (
    <div className="bar secondary">
      <AppLink href={callsWith('thread_id', thread.thread_id)} title="The calls of the thread">
        {plural(thread.turn_count, 'turn')}
      </AppLink>
      <span>
        <Errors count={thread.error_count} /> failed
      </span>
      <span>{wholeNumber(thread.total_tokens ?? 0)} tokens</span>
      <ThreadCost of={thread} />
      {p50 != null && p99 != null && (
        <span>
          turns take {duration(p50 * 1000)} (p50), {duration(p99 * 1000)} (p99)
        </span>
      )}
      {user != null && (
        <AppLink href={callsWith('end_user', user)} title="The calls of the user">
          <Name text={user} />
        </AppLink>
      )}
      <span>
        started <Time at={thread.start_time} />, last activity <Time at={thread.last_updated} />
      </span>
      <span className="mono">
        <Name text={thread.thread_id} />
      </span>
    </div>
  )
}
