import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../kit/api.js'
import { AppLink } from '../kit/app-link.js'
import { Cost } from '../kit/cost.js'
import { duration, opName, plural, wholeNumber } from '../kit/format.js'
import { LongText } from '../kit/long-text.js'
import { Name } from '../kit/marked.js'
import { usePlace } from '../kit/place.js'
import { useSetting } from '../kit/settings.js'
import { Failed, Loading } from '../kit/states.js'
import { CallStatus } from '../kit/status.js'
import { Time } from '../kit/time.js'
import { TextView } from '../traces/conversation-view.js'
import { Errors } from './list-page.js'
import type { Turn } from './thread-data.js'

export const DENSITIES = ['messages', 'turns', 'details'] as const
export type Density = (typeof DENSITIES)[number]

interface Props {
  readonly turn: Turn
  /** From 1. */
  readonly number: number
  readonly density: Density
  readonly isSelected: boolean
  readonly onSelect: () => void
}

/** A turn of a thread: what the user said to the right, the answer to the left, the calls between folded. */
export const TurnView = ({ turn, number, density, isSelected, onSelect }: Props) => (
  <li
    id={`turn-${turn.id}`}
    className="turn"
    aria-current={isSelected || undefined}
    data-density={density}
    onClick={onSelect}
  >
    <div className="bar secondary">
      <button type="button" className="link" onClick={onSelect}>
        Turn {wholeNumber(number)}
      </button>
      <Time at={turn.started_us / 1000} />
      {(density !== 'messages' || turn.status !== 'success') && <CallStatus status={turn.status} />}
      {density !== 'messages' && <TurnFigures turn={turn} />}
      <Reactions turn={turn} />
    </div>
    {density === 'turns' ? (
      <>
        <div className="one-line">
          <Name text={turn.input ?? TOO_LARGE} />
        </div>
        <div className="one-line secondary">
          <Name text={turn.exception ?? turn.output ?? TOO_LARGE} />
        </div>
      </>
    ) : (
      <>
        <Bubble role="user" text={turn.input} />
        <CallsBelow turn={turn} />
        {turn.exception !== null ? (
          <div className="bubble" data-role="assistant" data-tone="danger" dir="auto">
            <LongText text={turn.exception} />
          </div>
        ) : (
          turn.duration_us !== null && <Bubble role="assistant" text={turn.output} />
        )}
      </>
    )}
  </li>
)

const TOO_LARGE = 'Too large to look into; select the turn to read it.'

const Bubble = ({ role, text }: { readonly role: 'user' | 'assistant'; readonly text: string | null }) => {
  const [format] = useSetting('message format', 'text')
  if (text === '' || text === 'null') return null
  return (
    <div className="bubble" data-role={role}>
      <span className="visually-hidden">{role === 'user' ? 'User: ' : 'Assistant: '}</span>
      {text === null ? (
        <span className="secondary">{TOO_LARGE}</span>
      ) : (
        <TextView text={text} isMarkdown={role === 'assistant' && format === 'markdown'} />
      )}
    </div>
  )
}

const TurnFigures = ({ turn }: { readonly turn: Turn }) => (
  <>
    {turn.duration_us !== null && <span>{duration(turn.duration_us)}</span>}
    <span>{wholeNumber(turn.tokens)} tokens</span>
    <Cost dollars={turn.cost} unpriced={turn.unpriced} />
    {turn.models.length > 0 && <Name text={turn.models.join(', ')} />}
    {turn.errors !== 0 && (
      <span>
        <Errors count={turn.errors} /> failed
      </span>
    )}
  </>
)

const Reactions = ({ turn: { feedback } }: { readonly turn: Turn }) =>
  Object.entries(feedback).map(([kind, count]) => (
    <span key={kind} title="Feedback">
      <Name text={kind.replace(/^wandb\.(?:runnable\.)?|\.1$/g, '')} /> {wholeNumber(count)}
    </span>
  ))

/** The calls that a turn made itself, such as tools, read when they are opened. */
const CallsBelow = ({ turn }: { readonly turn: Turn }) => {
  const [isOpen, setOpen] = useState(false)
  if (turn.calls === 1) return null
  return (
    <details
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onClick={(event) => event.stopPropagation()}
    >
      <summary className="secondary">
        {turn.calls === null ? 'Calls below' : `${plural(turn.calls - 1, 'call')} below`}
      </summary>
      {isOpen && <ChildCalls turn={turn} />}
    </details>
  )
}

const MOST = 100

const ChildCalls = ({ turn: { id, trace_id } }: { readonly turn: Turn }) => {
  const { team, project, projectId } = usePlace()
  const calls = useQuery({
    queryKey: ['child calls', projectId, id],
    queryFn: ({ signal }) => {
      const sort_by = [{ field: 'started_at', direction: 'asc' as const }]
      const body = { project_id: projectId, filter: { parent_ids: [id] }, sort_by, limit: MOST }
      return dataOf(api.POST('/api/pages/calls', { body, signal }))
    },
  })
  if (calls.isError)
    return <Failed error={calls.error} what="The calls" onRetry={() => void calls.refetch()} />
  if (calls.isPending) return <Loading what="the calls" />
  const trace = `/${team}/${project}/traces/${encodeURIComponent(trace_id)}`
  return (
    <ul className="child-calls">
      {calls.data.rows.map((call) => (
        <li key={call.id}>
          <CallStatus status={call.status} />{' '}
          <AppLink href={`${trace}?call=${encodeURIComponent(call.id)}`}>
            <Name text={call.display_name ?? opName(call.op_name)} />
          </AppLink>{' '}
          {call.duration_us !== null && duration(call.duration_us)}
          <div className="one-line secondary">
            <Name text={call.exception ?? call.output} />
          </div>
        </li>
      ))}
      {calls.data.has_more && (
        <li>
          <AppLink href={trace}>More than {MOST} calls: open the trace</AppLink>
        </li>
      )}
    </ul>
  )
}
