import { Checkbox, SegmentedControl, Select, TextInput, Textarea } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import {
  EVENT_LABELS,
  takesRunFilters,
  type AutomationDraft,
  type EventType,
  type ScopeType,
} from './automation-draft.js'
import { EventFields } from './event-fields.js'
import type { EventInfo } from './event-types.js'
import { PayloadEditor, type Mark } from './payload-editor.js'
import { ConditionField } from '../kit/condition-field.js'
import { useProjects } from '../kit/project-switcher.js'
import { useMembers, useWebhooks } from '../kit/team-data.js'

interface FieldsProps {
  readonly team: string
  readonly draft: AutomationDraft
  readonly events: readonly EventInfo[]
  readonly problemOf: (...path: readonly string[]) => string | undefined
  readonly marks: readonly Mark[]
  readonly set: (changes: Partial<AutomationDraft>) => void
}

/** The three steps of an automation, all of them visible. */
export const AutomationFields = (props: FieldsProps) => (
  <>
    <section className="step" aria-labelledby="step-1">
      <h2 id="step-1">1. Event</h2>
      <EventStep {...props} />
    </section>
    <section className="step" aria-labelledby="step-2">
      <h2 id="step-2">2. Action</h2>
      <ActionStep {...props} />
    </section>
    <section className="step" aria-labelledby="step-3">
      <h2 id="step-3">3. Name</h2>
      <NameStep {...props} />
    </section>
  </>
)

const SCOPES: readonly (readonly [scope: ScopeType, label: string])[] = [
  ['project', 'Project'],
  ['registry', 'Registry'],
  ['team', 'Team'],
]

const EventStep = ({ team, draft, events, problemOf, set }: FieldsProps) => {
  const { projects } = useProjects()
  const members = useMembers(team)
  const info = events.find(({ type }) => type === draft.type)!
  const offered = events.filter(({ scopes }) => scopes.includes(draft.scope))
  const setScope = (scope: ScopeType) => {
    const first = events.find(({ scopes }) => scopes.includes(scope))!
    set({ scope, ...(info.scopes.includes(scope) ? {} : { type: first.type, fields: {} }) })
  }
  const names = projects.filter((one) => one.team === team).map(({ name }) => name)
  return (
    <>
      <div>
        <div id="scope" className="label">
          Scope
        </div>
        <SegmentedControl
          aria-labelledby="scope"
          data={SCOPES.map(([value, label]) => ({ value, label }))}
          value={draft.scope}
          onChange={(value) => setScope(value)}
        />
      </div>
      {draft.scope !== 'team' && (
        <TextInput
          label={draft.scope === 'project' ? 'Project' : 'Registry'}
          required
          list={draft.scope === 'project' ? 'projects-of-team' : undefined}
          value={draft.scopeName}
          error={problemOf('scope')}
          onChange={(event) => set({ scopeName: event.currentTarget.value })}
        />
      )}
      <datalist id="projects-of-team">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Select
        label="Event"
        required
        searchable
        allowDeselect={false}
        value={draft.type}
        error={problemOf('event', 'type')}
        data={offered.map(({ type }) => ({ value: type, label: EVENT_LABELS[type] }))}
        onChange={(type) => set({ type: type as EventType, fields: {} })}
      />
      <EventFields
        info={info}
        values={draft.fields}
        problemOf={(name) => problemOf('event', name)}
        onChange={(name, value) => set({ fields: { ...draft.fields, [name]: value } })}
      />
      {takesRunFilters(draft.type) && (
        <>
          <Select
            label="Filter to one user's runs"
            clearable
            searchable
            placeholder="All users"
            value={draft.user === '' ? null : draft.user}
            error={problemOf('run_filters', 'user')}
            data={(members.data?.data ?? []).map(({ user }) => user)}
            onChange={(user) => set({ user: user ?? '' })}
          />
          <TextInput
            label="Filter on run name"
            description="A regex"
            classNames={{ input: 'mono' }}
            value={draft.namePattern}
            error={problemOf('run_filters', 'name_pattern')}
            onChange={(event) => set({ namePattern: event.currentTarget.value })}
          />
        </>
      )}
      <ConditionField
        description="An expression over the event's variables, as in queries of calls"
        placeholder='{"$expr": {"$gt": [{"$getField": "artifact_metadata.accuracy"}, {"$literal": 0.9}]}}'
        value={draft.query}
        problem={problemOf('query')}
        onChange={(query) => set({ query })}
      />
    </>
  )
}

const ActionStep = ({ team, draft, events, problemOf, marks, set }: FieldsProps) => {
  const webhooks = useWebhooks(team)
  return (
    <>
      <TextInput label="Team that owns the webhook" value={team} readOnly variant="filled" />
      <Select label="Action type" value="webhook" data={[{ value: 'webhook', label: 'Webhooks' }]} readOnly />
      <Select
        label="Webhook"
        required
        searchable
        placeholder="Choose a webhook"
        value={draft.webhook === '' ? null : draft.webhook}
        error={problemOf('webhook')}
        data={(webhooks.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        nothingFoundMessage="No webhook has this name"
        onChange={(webhook) => set({ webhook: webhook ?? '' })}
      />
      {webhooks.data?.data.length === 0 && (
        <div className="secondary">
          This team has no webhooks.{' '}
          <Link to="/$team/-/webhooks/new" params={{ team }}>
            Create one
          </Link>
        </div>
      )}
      <PayloadEditor
        value={draft.payload}
        marks={marks}
        error={marks.length > 0 ? undefined : problemOf('payload')}
        info={events.find(({ type }) => type === draft.type)!}
        onChange={(payload) => set({ payload })}
      />
    </>
  )
}

const NameStep = ({ draft, problemOf, set }: FieldsProps) => (
  <>
    <TextInput
      label="Name"
      required
      value={draft.name}
      error={problemOf('name')}
      onChange={(event) => set({ name: event.currentTarget.value })}
    />
    <Textarea
      label="Description"
      autosize
      minRows={2}
      value={draft.description}
      error={problemOf('description')}
      onChange={(event) => set({ description: event.currentTarget.value })}
    />
    <Checkbox
      label="Enabled"
      checked={draft.enabled}
      onChange={(event) => set({ enabled: event.currentTarget.checked })}
    />
  </>
)
