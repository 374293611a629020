import { Button, Tabs } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Fragment } from 'react'
import { HistoryLink } from '../history/history-link.js'
import { api, dataOf, type Automation } from '../kit/api.js'
import { automationIn, draftOfAutomation, EVENT_LABELS, FIELD_LABELS } from './automation-draft.js'
import { AutomationEditor } from './automation-editor.js'
import { ConfirmButton } from '../kit/confirm.js'
import { DeliveryList } from '../webhooks/delivery-list.js'
import { useEventTypes } from './event-types.js'
import { useAddress, useIdInPath, usePlace } from '../kit/place.js'
import { ActionFailed, Empty, Failed, Loading } from '../kit/states.js'
import { Status } from '../kit/status.js'
import { keysOfTeam } from '../kit/team-data.js'
import { Time } from '../kit/time.js'
import { useRights } from '../kit/session.js'
import { useTitle } from '../kit/title.js'

export const NewAutomationPage = () => {
  const { team } = usePlace()
  const [search] = useAddress()
  const { canAutomate } = useRights(team)
  const events = useEventTypes()
  const navigate = useNavigate()
  useTitle('New automation')
  return (
    <div className="page">
      <h1>Create automation</h1>
      {!canAutomate && (
        <Empty title="You cannot create automations in this team">
          It needs the role team_administrator, project_administrator or registry_administrator, which the
          team&apos;s administrators can give you under Team settings.
        </Empty>
      )}
      {events.isError && (
        <Failed error={events.error} what="The events" onRetry={() => void events.refetch()} />
      )}
      {canAutomate && events.isSuccess && (
        <AutomationEditor
          team={team}
          events={events.data.data}
          initial={automationIn(search, events.data.data)}
          action="Create the automation"
          save={(body) => dataOf(api.POST('/api/automations', { body }))}
          onSaved={({ id }) => void navigate({ to: '/$team/-/automations/$id', params: { team, id } })}
        />
      )}
    </div>
  )
}

/** One automation: its editor, and its history. */
export const AutomationPage = () => {
  const { team } = usePlace()
  const id = useIdInPath('id')
  const [{ tab = 'edit' }, setAddress] = useAddress()
  const { canAutomate } = useRights(team)
  const queries = useQueryClient()
  const events = useEventTypes()
  const key = ['automation', id]
  const automation = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => dataOf(api.GET('/api/automations/{id}', { params: { path: { id } }, signal })),
  })
  useTitle(
    `${automation.data?.name ?? id} · ${tab === 'history' ? 'History of the automation' : 'Automation'}`,
  )
  const failed = automation.error ?? events.error
  if (failed !== null)
    return (
      <div className="page">
        <Failed error={failed} what="The automation" onRetry={() => void automation.refetch()} />
      </div>
    )
  if (!automation.isSuccess || !events.isSuccess)
    return (
      <div className="page">
        <Loading what="the automation" />
      </div>
    )
  const found = automation.data
  const onSaved = (saved: Automation) => {
    queries.setQueryData(key, saved)
    void queries.invalidateQueries({ queryKey: keysOfTeam.automations(team) })
  }
  return (
    <div className="page">
      <div className="bar">
        <h1>{found.name}</h1>
        <Status tone={found.enabled ? 'ok' : 'plain'}>{found.enabled ? 'enabled' : 'disabled'}</Status>
        <span className="spacer" />
        <HistoryLink object={found.id} />
        {canAutomate && <Actions team={team} automation={found} onChanged={onSaved} />}
      </div>
      {found.broken && (
        <div className="notice" data-tone="warn" role="alert">
          {found.broken === 'webhook_deleted'
            ? 'Its webhook was deleted. Choose another one.'
            : 'A secret that the payload names was destroyed. Change the payload or store the secret again.'}
        </div>
      )}
      <div className="secondary">
        Last execution: {found.last_fired_at ? <Time at={found.last_fired_at} /> : 'never'} ·{' '}
        {found.fired_24h ?? 0} in 24 h, {found.failed_24h ?? 0} failed
        {found.updated_at && (
          <>
            {' '}
            · changed <Time at={found.updated_at} /> by {found.updated_by}
          </>
        )}
      </div>
      <Tabs value={tab} onChange={(next) => setAddress({ tab: next === 'edit' ? '' : (next ?? '') })}>
        <Tabs.List>
          <Tabs.Tab value="edit">Automation</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
        </Tabs.List>
      </Tabs>
      {tab === 'history' ? (
        <DeliveryList team={team} fixed={{ automation: id }} canAct={canAutomate} />
      ) : !canAutomate ? (
        <Summary automation={found} />
      ) : (
        <AutomationEditor
          key={found.updated_at}
          team={team}
          id={id}
          events={events.data.data}
          initial={draftOfAutomation(found)}
          action="Save the automation"
          save={({ team: _, ...body }) =>
            dataOf(api.PATCH('/api/automations/{id}', { params: { path: { id } }, body: body }))
          }
          onSaved={onSaved}
        />
      )}
    </div>
  )
}

/** What people see who cannot change it. */
const Summary = ({ automation }: { readonly automation: Automation }) => {
  const { type, ...fields } = automation.event
  return (
    <>
      <dl className="facts">
        <dt>Event</dt>
        <dd>{EVENT_LABELS[type]}</dd>
        {Object.entries(fields)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <Fragment key={name}>
              <dt>{FIELD_LABELS[name] ?? name}</dt>
              <dd>{String(value)}</dd>
            </Fragment>
          ))}
        <dt>Scope</dt>
        <dd>{automation.scope.project ?? automation.scope.registry ?? 'the team'}</dd>
        {automation.description && (
          <>
            <dt>Description</dt>
            <dd>{automation.description}</dd>
          </>
        )}
      </dl>
      <h2>Payload</h2>
      <pre className="code" tabIndex={0} aria-label="Payload">
        {automation.payload}
      </pre>
    </>
  )
}

const Actions = ({
  team,
  automation: { id, name, enabled },
  onChanged,
}: {
  readonly team: string
  readonly automation: Automation
  readonly onChanged: (automation: Automation) => void
}) => {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: () =>
      dataOf(api.PATCH('/api/automations/{id}', { params: { path: { id } }, body: { enabled: !enabled } })),
    onSuccess: onChanged,
  })
  const remove = useMutation({
    mutationFn: () => api.DELETE('/api/automations/{id}', { params: { path: { id } } }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: keysOfTeam.automations(team) })
      void navigate({ to: '/$team/-/automations', params: { team } })
    },
  })
  const error: Error | null = change.error ?? remove.error
  return (
    <>
      <Button variant="default" size="compact-sm" loading={change.isPending} onClick={() => change.mutate()}>
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      <ConfirmButton
        label="Delete"
        title={`Delete the automation ${name}?`}
        onConfirm={() => remove.mutate()}
      >
        <p>It no longer fires. Messages that wait are still sent; its deliveries stay in the log.</p>
      </ConfirmButton>
      <ActionFailed error={error} what="The change" />
    </>
  )
}
