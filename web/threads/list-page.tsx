import { ErasedCalls } from '../erasures/erased-calls.js'
import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { AppLink } from '../kit/app-link.js'
import { Cost } from '../kit/cost.js'
import { duration, plural, wholeNumber } from '../kit/format.js'
import { withAsOf } from '../kit/as-of.js'
import { useKeys } from '../kit/keys.js'
import { CodeBlock } from '../kit/long-text.js'
import { Name } from '../kit/marked.js'
import { useAddress, usePlace } from '../kit/place.js'
import { SearchBox } from '../kit/search-box.js'
import { ShowMore } from '../kit/show-more.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { Time } from '../kit/time.js'
import { useTitle } from '../kit/title.js'
import { useThreads, type Thread } from './thread-data.js'

/** The threads of a project, the one with the last activity first. */
export const ThreadsPage = () => {
  useTitle('Threads')
  const { team, project } = usePlace()
  const [{ q = '' }] = useAddress()
  const navigate = useNavigate()
  const list = useThreads(q)
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? []
  const [selected, setSelected] = useState<string>()
  const hrefOf = ({ thread_id }: Thread) => `/${team}/${project}/threads/${encodeURIComponent(thread_id)}`
  const at = rows.findIndex(({ thread_id }) => thread_id === selected)
  const move = (step: number) =>
    setSelected(rows[Math.min(rows.length - 1, Math.max(0, at + step))]?.thread_id)
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => rows[at] !== undefined && void navigate({ href: hrefOf(rows[at]) }),
    o: () => rows[at] !== undefined && window.open(withAsOf(hrefOf(rows[at])), '_blank'),
  })
  return (
    <div className="page">
      <div className="bar">
        <h1>Threads</h1>
        <SearchBox label="Search in threads" />
      </div>
      {list.isError && <Failed error={list.error} what="The list" onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading what="threads" />}
      {list.isSuccess && rows.length === 0 && (q === '' ? <NoThreads /> : <NoMatches q={q} />)}
      {rows.length > 0 && (
        <div className={list.isPlaceholderData ? 'dimmed' : ''}>
          <Table
            label="Threads"
            columns={columnsFor(hrefOf)}
            rows={rows}
            keyOf={({ thread_id }) => thread_id}
            selected={selected}
          />
        </div>
      )}
      <ErasedCalls count={list.data?.pages[0]?.erased_calls} />
      {rows.length > 0 && (
        <div className="bar secondary">
          {plural(rows.length, 'thread')}
          <ShowMore list={list} />
        </div>
      )}
    </div>
  )
}

const columnsFor = (hrefOf: (thread: Thread) => string): readonly Column<Thread>[] => [
  {
    label: 'First message',
    cell: (thread) => (
      <AppLink className="strong" href={hrefOf(thread)} title={thread.first_message ?? thread.thread_id}>
        <Name text={thread.first_message ?? thread.thread_id} />
      </AppLink>
    ),
  },
  {
    label: 'Thread',
    width: 144,
    cell: ({ thread_id }) => (
      <span className="mono" title={thread_id}>
        <Name text={thread_id} />
      </span>
    ),
  },
  { label: 'User', width: 112, cell: ({ end_user }) => (end_user == null ? '—' : <Name text={end_user} />) },
  { label: 'Turns', width: 72, isNumber: true, cell: ({ turn_count }) => wholeNumber(turn_count) },
  { label: 'Errors', width: 72, isNumber: true, cell: ({ error_count }) => <Errors count={error_count} /> },
  { label: 'Tokens', width: 96, isNumber: true, cell: ({ total_tokens = 0 }) => wholeNumber(total_tokens) },
  { label: 'Cost', width: 96, isNumber: true, cell: (thread) => <ThreadCost of={thread} /> },
  {
    label: 'Turn, p50',
    width: 88,
    isNumber: true,
    cell: ({ p50_turn_duration_ms: p50 }) => (p50 == null ? '—' : duration(p50 * 1000)),
  },
  { label: 'Last activity', width: 144, cell: ({ last_updated }) => <Time at={last_updated} /> },
]

export const Errors = ({ count }: { readonly count: number | null | undefined }) =>
  count == null ? (
    <span title="There are too many calls to count.">unknown</span>
  ) : count === 0 ? (
    '0'
  ) : (
    <span style={{ color: 'var(--danger)' }}>{wholeNumber(count)}</span>
  )

export const ThreadCost = ({ of: { cost, unpriced = false } }: { readonly of: Thread }) => (
  <Cost dollars={cost ?? 0} unpriced={unpriced} />
)

const NoMatches = ({ q }: { readonly q: string }) => {
  const [, setAddress] = useAddress()
  return (
    <Empty title="No thread matches">
      <p>
        No turn has “<Name text={q} />” in its inputs, its output or its user, and no thread in its id.
      </p>
      <Button size="xs" variant="default" onClick={() => setAddress({ q: '' })}>
        Clear the search
      </Button>
    </Empty>
  )
}

const SNIPPET = `import weave

with weave.thread("conversation-1"):
    answer("What is six times seven?")
    answer("And eight times nine?")
`

const NoThreads = () => (
  <Empty title="No threads yet">
    <p>
      A thread is a conversation: its turns are the calls that your program makes within one thread. Other
      clients send <code className="mono">thread_id</code> and <code className="mono">turn_id</code> with the
      start of a call.
    </p>
    <CodeBlock text={SNIPPET} language="python" />
  </Empty>
)
