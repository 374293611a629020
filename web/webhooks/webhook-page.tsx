import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { HistoryLink } from '../history/history-link.js'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { ConfirmButton } from '../kit/confirm.js'
import { EditorForm } from '../kit/editor-form.js'
import { isChangedFrom, useUnsaved } from '../kit/unsaved.js'
import { useTitle } from '../kit/title.js'
import { isPast } from '../kit/format.js'
import { useIdInPath, usePlace } from '../kit/place.js'
import { ActionFailed, Empty, Failed, Loading } from '../kit/states.js'
import { keysOfTeam } from '../kit/team-data.js'
import { Time } from '../kit/time.js'
import { bodyOfWebhook, draftOfWebhook, EMPTY_WEBHOOK, type WebhookDraft } from './webhook-draft.js'
import { WebhookFields } from './webhook-form.js'
import { WebhookHours } from './webhook-hours.js'
import { SuccessRate, WebhookState } from './webhook-state.js'
import { WebhookTester } from './webhook-test.js'
import { useRights } from '../kit/session.js'

type Webhook = Schemas['Webhook']

export const NewWebhookPage = () => {
  const { team } = usePlace()
  const { isTeamAdministrator } = useRights(team)
  const navigate = useNavigate()
  useTitle('New webhook')
  return (
    <div className="page">
      <h1>New webhook</h1>
      {isTeamAdministrator ? (
        <Editor
          team={team}
          initial={EMPTY_WEBHOOK}
          action="Create the webhook"
          save={(body) =>
            dataOf(api.POST('/api/teams/{team}/webhooks', { params: { path: { team } }, body }))
          }
          onSaved={({ id }) => void navigate({ to: '/$team/-/webhooks/$id', params: { team, id } })}
        />
      ) : (
        <OnlyAdministrators />
      )}
    </div>
  )
}

const OnlyAdministrators = () => (
  <Empty title="You cannot create webhooks in this team">
    It needs the role team_administrator, which the team's administrators can give you under Team settings.
  </Empty>
)

/** One webhook: its state, and for administrators its form with a test. */
export const WebhookPage = () => {
  const { team } = usePlace()
  const id = useIdInPath('id')
  const queries = useQueryClient()
  const { isTeamAdministrator } = useRights(team)
  const key = ['webhook', team, id]
  const webhook = useQuery({
    queryKey: key,
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/teams/{team}/webhooks/{id}', { params: { path: { team, id } }, signal })),
  })
  useTitle(`${webhook.data?.name ?? id} · Webhook`)
  const onSaved = (saved: Webhook) => {
    queries.setQueryData(key, saved)
    void queries.invalidateQueries({ queryKey: keysOfTeam.webhooks(team) })
  }
  if (webhook.isError)
    return (
      <div className="page">
        <Failed error={webhook.error} what="The webhook" onRetry={() => void webhook.refetch()} />
      </div>
    )
  if (!webhook.isSuccess)
    return (
      <div className="page">
        <Loading what="the webhook" />
      </div>
    )
  const found = webhook.data
  return (
    <div className="page">
      <div className="bar">
        <h1>{found.name}</h1>
        <WebhookState webhook={found} />
        <span className="spacer" />
        <HistoryLink object={id} />
        <Button
          component={Link}
          variant="default"
          size="compact-sm"
          to={`/${team}/-/deliveries?webhook=${encodeURIComponent(id)}`}
        >
          Deliveries
        </Button>
        {isTeamAdministrator && <Actions team={team} webhook={found} onChanged={onSaved} />}
      </div>
      <Facts team={team} webhook={found} />
      {isTeamAdministrator && <WebhookHours team={team} id={id} />}
      {isTeamAdministrator && (
        <Editor
          key={found.updated_at}
          team={team}
          initial={draftOfWebhook(found)}
          action="Save the webhook"
          save={(body) =>
            dataOf(api.PATCH('/api/teams/{team}/webhooks/{id}', { params: { path: { team, id } }, body }))
          }
          onSaved={onSaved}
        />
      )}
    </div>
  )
}

const Editor = ({
  team,
  initial,
  action,
  save,
  onSaved,
}: {
  readonly team: string
  readonly initial: WebhookDraft
  readonly action: string
  readonly save: (body: Schemas['NewWebhook']) => Promise<Webhook>
  readonly onSaved: (webhook: Webhook) => void
}) => {
  const queries = useQueryClient()
  const [draft, setDraft] = useState(initial)
  const unsaved = useUnsaved(isChangedFrom(initial, draft))
  const saving = useMutation({
    mutationFn: () => save(bodyOfWebhook(draft)),
    onSuccess: (webhook) => {
      unsaved.allow()
      void queries.invalidateQueries({ queryKey: keysOfTeam.webhooks(team) })
      onSaved(webhook)
    },
  })
  return (
    <EditorForm
      name="Webhook"
      action={action}
      saving={saving}
      dialog={unsaved.dialog}
      aside={<WebhookTester team={team} draft={draft} />}
    >
      <WebhookFields team={team} draft={draft} error={saving.error} onChange={setDraft} />
    </EditorForm>
  )
}

const DISABLED: Readonly<Record<NonNullable<Webhook['disabled_reason']>, string>> = {
  by_hand: 'It was disabled by hand.',
  gone: 'The receiver answered 410 Gone.',
  receiver_asked: 'The receiver asked for no more messages.',
  failing_for_days: 'It failed for days.',
}

const Facts = ({ team, webhook }: { readonly team: string; readonly webhook: Webhook }) => (
  <dl className="facts">
    {webhook.disabled_reason && (
      <>
        <dt>Disabled</dt>
        <dd>{DISABLED[webhook.disabled_reason]}</dd>
      </>
    )}
    {webhook.failing_since && (
      <>
        <dt>Failing since</dt>
        <dd>
          <Time at={webhook.failing_since} />, {webhook.consecutive_failures} failures in a row
          {webhook.last_error && `: ${webhook.last_error}`}
        </dd>
      </>
    )}
    {webhook.next_probe_at && (
      <>
        <dt>Next attempt</dt>
        <dd>{isPast(webhook.next_probe_at) ? 'now' : <Time at={webhook.next_probe_at} />}</dd>
      </>
    )}
    {webhook.throttled_until && (
      <>
        <dt>Throttled until</dt>
        <dd>
          <Time at={webhook.throttled_until} />
        </dd>
      </>
    )}
    <dt>Success in 24 h</dt>
    <dd>
      <SuccessRate webhook={webhook} team={team} />
      {webhook.attempts_24h != null && ` of ${webhook.attempts_24h} attempts`}
    </dd>
    <dt>Used by</dt>
    <dd>
      {(webhook.used_by ?? []).length === 0 && 'no automation'}
      {(webhook.used_by ?? []).map(({ id, name }, n) => (
        <span key={id}>
          {n > 0 && ', '}
          <Link to="/$team/-/automations/$id" params={{ team, id }}>
            {name}
          </Link>
        </span>
      ))}
    </dd>
    {webhook.updated_at && (
      <>
        <dt>Changed</dt>
        <dd>
          <Time at={webhook.updated_at} /> by {webhook.updated_by}
        </dd>
      </>
    )}
  </dl>
)

const Actions = ({
  team,
  webhook: { id, name, state, used_by },
  onChanged,
}: {
  readonly team: string
  readonly webhook: Webhook
  readonly onChanged: (webhook: Webhook) => void
}) => {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const release = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/api/teams/{team}/webhooks/{id}/release', { params: { path: { team, id } }, body: {} }),
      ),
    onSuccess: onChanged,
  })
  const remove = useMutation({
    mutationFn: () =>
      api.DELETE('/api/teams/{team}/webhooks/{id}', {
        params: { path: { team, id }, query: { force: 'true' } },
      }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: keysOfTeam.webhooks(team) })
      void navigate({ to: '/$team/-/webhooks', params: { team } })
    },
  })
  const error: Error | null = release.error ?? remove.error
  return (
    <>
      {state !== 'healthy' && (
        <Button
          variant="default"
          size="compact-sm"
          title="Sends what waits now, without waiting for the next attempt"
          loading={release.isPending}
          onClick={() => release.mutate()}
        >
          Release
        </Button>
      )}
      <ConfirmButton label="Delete" title={`Delete the webhook ${name}?`} onConfirm={() => remove.mutate()}>
        <p>
          What waits to be sent is canceled.{' '}
          {(used_by ?? []).length > 0 &&
            `These automations have no webhook then: ${(used_by ?? []).map((one) => one.name).join(', ')}.`}
        </p>
      </ConfirmButton>
      <ActionFailed error={error} what="The change" />
    </>
  )
}
