import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { HistoryLink } from '../history/history-link.js'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { DeliveryState, waitingFor } from './delivery-state.js'
import { JsonView } from '../kit/json-view.js'
import { isPast } from '../kit/format.js'
import { useIdInPath, usePlace } from '../kit/place.js'
import { ActionFailed, Failed, Loading } from '../kit/states.js'
import { Status, type Tone } from '../kit/status.js'
import { Time } from '../kit/time.js'
import { Message, Phases } from './webhook-test.js'
import { useRights } from '../kit/session.js'
import { useTitle } from '../kit/title.js'

type Detail = Schemas['DeliveryDetail']
type Attempt = Schemas['DeliveryAttempt']

/** One delivery: the message, every attempt, why it was sent, and what happens next. */
export const DeliveryPage = () => {
  const { team } = usePlace()
  const id = useIdInPath('id')
  const { canAutomate } = useRights(team)
  const delivery = useQuery({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/deliveries/{id}', { params: { path: { id }, query: {} }, signal })),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isOver(data.state) ? false : 3_000),
  })
  useTitle(`${delivery.data?.event_type ?? ''} delivery ${id}`.trim())
  if (delivery.isError)
    return (
      <div className="page">
        <Failed error={delivery.error} what="The delivery" onRetry={() => void delivery.refetch()} />
      </div>
    )
  if (!delivery.isSuccess)
    return (
      <div className="page">
        <Loading what="the delivery" />
      </div>
    )
  const found = delivery.data
  return (
    <div className="page" style={{ maxWidth: 1400 }}>
      <div className="bar">
        <h1>Delivery</h1>
        <DeliveryState state={found.state} />
        <span className="spacer" />
        <HistoryLink object={found.id} />
        {canAutomate && <Actions delivery={found} />}
      </div>
      <Facts team={team} delivery={found} />
      <div className="columns">
        <section className="page" style={{ padding: 0 }} aria-label="Attempts">
          <h2>Attempts</h2>
          {found.attempts.length === 0 && <div className="secondary">None yet.</div>}
          {found.attempts_before !== null && (
            <div className="secondary">
              Only the last attempts are shown; there are {found.attempts_before} more.
            </div>
          )}
          {found.attempts.map((attempt, n) => (
            <AttemptView
              key={attempt.attempt}
              attempt={attempt}
              isLast={n === found.attempts.length - 1 && !isOver(found.state)}
            />
          ))}
        </section>
        <section className="page" style={{ padding: 0 }} aria-label="Message">
          <h2>Message</h2>
          {found.unresolved.length > 0 && (
            <div className="notice" data-tone="warn">
              Variables without a value: {found.unresolved.join(', ')}
            </div>
          )}
          {found.body === null ? (
            <div className="secondary">The message is not shown to members.</div>
          ) : (
            <JsonView text={found.body} label="Message" />
          )}
          <h2>Variables</h2>
          <JsonView text={JSON.stringify(found.variables)} label="Variables" />
        </section>
      </div>
    </div>
  )
}

const isOver = (state: Detail['state']): boolean =>
  ['succeeded', 'dead', 'canceled', 'suppressed'].includes(state)

const Facts = ({ team, delivery }: { readonly team: string; readonly delivery: Detail }) => (
  <dl className="facts">
    {isOver(delivery.state) ? (
      <>
        <dt>Ended because</dt>
        <dd>{delivery.reason ?? 'the receiver took it'}</dd>
      </>
    ) : (
      <>
        <dt>Next attempt</dt>
        <dd>
          {isPast(delivery.next_at) ? 'now' : <Time at={delivery.next_at} />}
          {delivery.waiting_reason !== null && `, waits ${waitingFor(delivery.waiting_reason)}`}
        </dd>
      </>
    )}
    <dt>Automation</dt>
    <dd>
      <Link to="/$team/-/automations/$id" params={{ team, id: delivery.automation }}>
        {delivery.automation_name ?? 'deleted'}
      </Link>
    </dd>
    {delivery.webhook !== null && (
      <>
        <dt>Webhook</dt>
        <dd>
          <Link to="/$team/-/webhooks/$id" params={{ team, id: delivery.webhook }}>
            {delivery.webhook_name ?? 'deleted'}
          </Link>
        </dd>
      </>
    )}
    <dt>Scheduled</dt>
    <dd>
      <Time at={delivery.scheduled_at} />
    </dd>
    <dt>Event</dt>
    <dd>
      {delivery.event_type ?? ''} <span className="secondary">{delivery.source.type}, recorded</span>{' '}
      <Time at={delivery.source.recorded_at} />,{' '}
      <a href={`/${team}/-/deliveries?source_event=${encodeURIComponent(delivery.source.event_id)}`}>
        all deliveries of this event
      </a>
      <CallOf stream={delivery.source.stream} />
    </dd>
    <Why delivery={delivery} />
  </dl>
)

/** The call of the event, whose stream is named `call-TEAM/PROJECT/ID`. */
const CallOf = ({ stream }: { readonly stream: string }) => {
  const [, team, project, call] = /^call-([^/]+)\/([^/]+)\/(.+)$/.exec(stream) ?? []
  if (team === undefined || project === undefined || call === undefined) return null
  return (
    <>
      ,{' '}
      <Link to="/$team/$project/calls/$call" params={{ team, project, call }}>
        its call
      </Link>
    </>
  )
}

const Why = ({ delivery: { automation, source } }: { readonly delivery: Detail }) => {
  const why = useQuery({
    queryKey: ['why', automation, source.event_id],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/api/automations/{id}/why', {
          params: { path: { id: automation }, query: { event: source.event_id, stream: source.stream } },
          signal,
        }),
      ),
    retry: false,
  })
  return (
    <>
      <dt>Why</dt>
      <dd>{why.isSuccess ? why.data.says : why.isError ? '—' : '…'}</dd>
    </>
  )
}

const OUTCOMES: Readonly<Record<Attempt['outcome'], readonly [Tone, string]>> = {
  under_way: ['running', 'being sent'],
  succeeded: ['ok', 'delivered'],
  retry: ['warn', 'failed, to be tried again'],
  dead: ['danger', 'failed'],
  unknown: ['warn', 'unknown'],
}

const AttemptView = ({
  attempt,
  isLast,
}: {
  readonly attempt: Attempt
  /** Another attempt follows. */
  readonly isLast: boolean
}) => {
  const { outcome, started_at, status, error, reason, hint, next_at, phases, url, peer, possible_duplicate } =
    attempt
  const [tone, word] = OUTCOMES[outcome]
  return (
    <article className="notice">
      <div className="bar">
        <strong>Attempt {attempt.attempt}</strong>
        <Status tone={tone}>{word}</Status>
        <span>{[error, status === null ? null : `status ${status}`, reason].filter(Boolean).join(', ')}</span>
        <span className="spacer" />
        <Time at={started_at} />
      </div>
      {hint !== null && <div>{hint}</div>}
      <Phases phases={phases} />
      {url !== null && <div className="mono">POST {url}</div>}
      {peer !== null && <div className="secondary">Sent to {peer}</div>}
      {possible_duplicate && (
        <div className="secondary">The receiver may have got this attempt although no answer was read.</div>
      )}
      {isLast && next_at !== null && !isPast(next_at) && (
        <div>
          Next attempt: <Time at={next_at} />
        </div>
      )}
      {attempt.request_headers !== null && (
        <details>
          <summary>Sent headers</summary>
          <Message first="" headers={attempt.request_headers} body="" />
        </details>
      )}
      {attempt.response !== null && (
        <details>
          <summary>Answer</summary>
          <Message
            first={`Status ${attempt.response.status ?? ''}`}
            headers={attempt.response.headers}
            body={attempt.response.body}
          />
        </details>
      )}
    </article>
  )
}

const Actions = ({ delivery: { id, state } }: { readonly delivery: Detail }) => {
  const queries = useQueryClient()
  const act = useMutation({
    mutationFn: (action: 'resend' | 'cancel') => {
      const params = { path: { id } }
      return dataOf(
        action === 'resend'
          ? api.POST('/api/deliveries/{id}/resend', { params })
          : api.POST('/api/deliveries/{id}/cancel', { params }),
      )
    },
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['delivery', id] }),
  })
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        loading={act.isPending}
        onClick={() => act.mutate(isOver(state) ? 'resend' : 'cancel')}
      >
        {isOver(state) ? 'Resend' : 'Cancel'}
      </Button>
      <ActionFailed error={act.error} what="The action" />
    </>
  )
}
