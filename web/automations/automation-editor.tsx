import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Automation, type Schemas } from '../kit/api.js'
import { bodyOfAutomation, type AutomationDraft } from './automation-draft.js'
import { AutomationFields } from './automation-form.js'
import { AutomationPreview } from './automation-preview.js'
import type { EventInfo } from './event-types.js'
import { EditorForm } from '../kit/editor-form.js'
import { conditionProblem } from '../kit/condition-field.js'
import { problemAt } from '../kit/form-errors.js'
import { rangeOf } from '../kit/range.js'
import { isChangedFrom, useUnsaved } from '../kit/unsaved.js'
import type { Mark } from './payload-editor.js'
import { keysOfTeam } from '../kit/team-data.js'

type Body = Schemas['NewAutomation']

/** How long events are searched at first, and when asked to search on. */
const FIRST_SEARCH_MS = 200
const LONG_SEARCH_MS = 5000

/** What a saved automation sent: how often in 7 days, and the position of the newest event. */
const useFired = (team: string, automation: string | undefined) =>
  useQuery({
    queryKey: ['deliveries', team, 'fired', automation],
    enabled: automation !== undefined,
    queryFn: async ({ signal }) => {
      const query = { team, automation: automation! }
      const params = { query: { ...query, ...rangeOf('7d', Date.now()) } }
      const [{ total }, { data }] = await Promise.all([
        dataOf(api.GET('/api/deliveries/counts', { params, signal })),
        dataOf(api.GET('/api/deliveries', { params: { query: { ...query, limit: 1 } }, signal })),
      ])
      return { total, newest: data[0]?.source.position }
    },
  })

interface Search {
  /** The position of the event to show, instead of a search. */
  readonly event: string | undefined
  readonly search_ms: number
}

/** What the service says about the draft, a moment after the last change. */
const usePreview = (
  team: string,
  draft: AutomationDraft,
  info: EventInfo,
  { event, search_ms }: Search,
  isReady: boolean,
) => {
  const [settled] = useDebouncedValue(draft, 300)
  const isWhole = conditionProblem(settled.query) === undefined && info.type === settled.type
  return useQuery({
    queryKey: ['preview', team, settled, event, search_ms],
    enabled: isReady && isWhole,
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: ({ signal }) => {
      const { webhook, name, ...rest } = bodyOfAutomation(team, settled, info)
      const automation = { ...rest, ...(name === '' ? {} : { name }), ...(webhook === '' ? {} : { webhook }) }
      const search = event === undefined ? { search_ms } : { event, search_ms: 0 }
      return dataOf(api.POST('/api/automations/preview', { body: { automation, ...search }, signal }))
    },
  })
}

/** The form of an automation with a preview of what it would have done. */
export const AutomationEditor = ({
  team,
  id,
  events,
  initial,
  action,
  save,
  onSaved,
}: {
  readonly team: string
  /** Of a saved automation. */
  readonly id?: string
  readonly events: readonly EventInfo[]
  readonly initial: AutomationDraft
  readonly action: string
  readonly save: (body: Body) => Promise<Automation>
  readonly onSaved: (automation: Automation) => void
}) => {
  const queries = useQueryClient()
  const [draft, setDraft] = useState(initial)
  const isChanged = isChangedFrom(initial, draft)
  const unsaved = useUnsaved(isChanged)
  const info = events.find(({ type }) => type === draft.type)!
  const [searchMs, setSearchMs] = useState(FIRST_SEARCH_MS)
  const fired = useFired(team, id)
  const event = isChanged ? undefined : fired.data?.newest
  const preview = usePreview(team, draft, info, { event, search_ms: searchMs }, !fired.isLoading)
  const saving = useMutation({
    mutationFn: () => {
      const wrong = conditionProblem(draft.query)
      if (wrong !== undefined) throw new Error(wrong)
      return save(bodyOfAutomation(team, draft, info))
    },
    onSuccess: (automation) => {
      unsaved.allow()
      void queries.invalidateQueries({ queryKey: keysOfTeam.automations(team) })
      onSaved(automation)
    },
  })
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
    <EditorForm
      name="Automation"
      action={action}
      saving={saving}
      dialog={unsaved.dialog}
      aside={
        <AutomationPreview
          preview={preview.isError ? undefined : preview.data}
          isOld={preview.isPlaceholderData}
          fired={event === undefined ? undefined : fired.data?.total}
          onSearchOn={searchMs < LONG_SEARCH_MS ? () => setSearchMs(LONG_SEARCH_MS) : undefined}
        />
      }
    >
      <AutomationFields
        team={team}
        draft={draft}
        events={events}
        problemOf={problemOf}
        marks={marks}
        set={set}
      />
    </EditorForm>
  )
}
