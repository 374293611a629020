import { Button, Tabs } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Fragment, useRef, useState } from 'react'
import { api, ApiError, dataOf, type Automation, type Schemas } from '../api.js'
import {
  bodyOfAutomation,
  draftOfAutomation,
  emptyAutomation,
  EVENT_LABELS,
  FIELD_LABELS,
  type AutomationDraft,
} from '../parts/automation-draft.js'
import { AutomationFields, queryProblem } from '../parts/automation-form.js'
import { AutomationPreview } from '../parts/automation-preview.js'
import { ConfirmButton } from '../parts/confirm.js'
import { DeliveryList } from '../parts/delivery-list.js'
import { useEventTypes, type EventInfo } from '../parts/event-types.js'
import { useFocusOnProblem, NotSaved, problemAt } from '../parts/form-errors.js'
import { onSubmit } from '../parts/on-submit.js'
import type { Mark } from '../parts/payload-editor.js'
import { useAddress, useIdInPath, usePlace } from '../parts/place.js'
import { Empty, Failed, Loading } from '../parts/states.js'
import { Status } from '../parts/status.js'
import { keysOfTeam } from '../parts/team-data.js'
import { Time } from '../parts/time.js'
import { useRights } from '../session.js'

type Body = Schemas['NewAutomation']

export const NewAutomationPage = () => {
  const { team } = usePlace()
  const [{ project = '' }] = useAddress()
  const { canAutomate } = useRights(team)
  const events = useEventTypes()
  const navigate = useNavigate()
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
        <Editor
          team={team}
          events={events.data.data}
          initial={emptyAutomation(project)}
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
        <Editor
          key={found.updated_at}
          team={team}
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

/** What the service says about the draft, a moment after the last change. */
const usePreview = (team: string, draft: AutomationDraft, info: EventInfo) => {
  const [settled] = useDebouncedValue(draft, 300)
  const isWhole = queryProblem(settled.query) === undefined && info.type === settled.type
  return useQuery({
    queryKey: ['preview', team, settled],
    enabled: isWhole,
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: ({ signal }) => {
      const { webhook, name, ...rest } = bodyOfAutomation(team, settled, info)
      const automation = { ...rest, ...(name === '' ? {} : { name }), ...(webhook === '' ? {} : { webhook }) }
      return dataOf(api.POST('/api/automations/preview', { body: { automation }, signal }))
    },
  })
}

const Editor = ({
  team,
  events,
  initial,
  action,
  save,
  onSaved,
}: {
  readonly team: string
  readonly events: readonly EventInfo[]
  readonly initial: AutomationDraft
  readonly action: string
  readonly save: (body: Body) => Promise<Automation>
  readonly onSaved: (automation: Automation) => void
}) => {
  const queries = useQueryClient()
  const form = useRef<HTMLFormElement>(null)
  const [draft, setDraft] = useState(initial)
  const info = events.find(({ type }) => type === draft.type)!
  const preview = usePreview(team, draft, info)
  const saving = useMutation({
    mutationFn: () => {
      const wrong = queryProblem(draft.query)
      if (wrong !== undefined) throw new Error(wrong)
      return save(bodyOfAutomation(team, draft, info))
    },
    onSuccess: (automation) => {
      void queries.invalidateQueries({ queryKey: keysOfTeam.automations(team) })
      onSaved(automation)
    },
  })
  useFocusOnProblem(form, saving.error)
  const found = preview.data?.errors ?? []
  const marks: Mark[] = found.flatMap(({ loc, msg, start, end, suggestion }) =>
    loc[0] === 'payload' && start != null
      ? [{ msg, start, end: end ?? start + 1, suggestion: suggestion ?? null }]
      : [],
  )
  // What is missing is said when the form is saved, not while it is filled in.
  const isAsked = saving.isError
  const problemOf = (...path: readonly string[]) =>
    problemAt(saving.error, ...path) ??
    problemAt(preview.error, 'automation', ...path) ??
    found.find(({ loc, type }) => loc.join('.').startsWith(path.join('.')) && (isAsked || type !== 'missing'))
      ?.msg
  const set = (changes: Partial<AutomationDraft>) => {
    setDraft((before) => ({ ...before, ...changes }))
    if (saving.isError) saving.reset()
  }
  return (
    <div className="columns">
      <form
        ref={form}
        className="form"
        noValidate
        aria-label="Automation"
        onSubmit={onSubmit(() => {
          saving.mutate()
        })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) saving.mutate()
        }}
      >
        <AutomationFields
          team={team}
          draft={draft}
          events={events}
          problemOf={problemOf}
          marks={marks}
          set={set}
        />
        <NotSaved error={saving.error} what="The automation" />
        <div className="bar">
          <Button type="submit" loading={saving.isPending}>
            {action}
          </Button>
          <span role="status">{saving.isSuccess ? 'Saved.' : ''}</span>
        </div>
      </form>
      <AutomationPreview
        preview={preview.isError ? undefined : preview.data}
        isOld={preview.isPlaceholderData}
      />
    </div>
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
      {error instanceof ApiError && <Failed error={error} what="The change" />}
    </>
  )
}
