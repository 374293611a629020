import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../kit/api.js'
import { opName } from '../kit/format.js'
import type { Place } from '../kit/place.js'
import { printSearch } from '../kit/search.js'
import { callsHref } from '../traces/address.js'
import { operandOf } from '../traces/filter.js'
import { savedViews } from '../traces/saved-view-data.js'
import { addressOf, USAGE_VIEW } from '../traces/saved-view.js'
import { USAGE_VIEWS } from '../usage/usage-saved-view.js'
import type { Target } from './named-things.js'
import { projectHref } from './pages.js'

/** Of each kind. */
const LIMIT = 5

/** What of a project has a name with a text: saved views, ops, evaluation runs, threads, and objects. */
export const useFoundThings = (place: Place, text: string): readonly Target[] => {
  const { team, project } = place
  const projectId = `${team}/${project}`
  const [typed] = useDebouncedValue(text, 200)
  const isIn = project !== ''
  const views = useQuery({ ...savedViews(projectId), enabled: isIn })
  const found = useQuery({
    queryKey: ['palette', projectId, typed],
    enabled: isIn && typed !== '',
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const inProject = { project_id: projectId, contains: typed, limit: LIMIT }
      const groups = await Promise.allSettled([
        dataOf(
          api.GET('/api/pages/values', { params: { query: { ...inProject, field: 'op_name' } }, signal }),
        ).then(({ data }) => data.map(({ value }) => opTarget(place, value))),
        dataOf(
          api.POST('/api/pages/evaluations', {
            body: { project_id: projectId, q: typed, limit: LIMIT },
            signal,
          }),
        ).then(({ rows }) => rows.map((run) => runTarget(place, run))),
        dataOf(api.POST('/api/pages/threads', { body: inProject, signal })).then(({ rows }) =>
          rows.map((thread) => ({
            label: thread.first_message ?? thread.thread_id,
            group: 'Thread',
            href: projectHref(team, project, `threads/${encodeURIComponent(thread.thread_id)}`),
          })),
        ),
        dataOf(api.GET('/api/pages/names', { params: { query: inProject }, signal })).then(({ data }) =>
          data.map(({ name, digest, class: of }) => ({
            label: name,
            group: of,
            href: projectHref(team, project, `objects/${encodeURIComponent(name)}/${digest}`),
          })),
        ),
      ])
      // One that is too slow hides nothing of the others.
      return groups.flatMap((group) => (group.status === 'fulfilled' ? group.value : []))
    },
  })
  const ofViews = (views.data ?? []).map(({ view }): Target => {
    const [path, address] =
      view.view_type === USAGE_VIEW ? ['usage', USAGE_VIEWS.addressOf(view)] : ['traces', addressOf(view)]
    return {
      label: view.label,
      group: 'Saved view',
      href: projectHref(team, project, path) + printSearch(address),
    }
  })
  const hasText = ({ label }: Target) => label.toLowerCase().includes(text)
  return text === '' ? [] : [...ofViews.filter(hasText), ...(found.data ?? [])]
}

const opTarget = (place: Place, value: string): Target => ({
  label: opName(value),
  group: 'Op',
  href: callsHref(place, {
    conditions: [operandOf({ field: 'op_name', operator: 'equals', value })],
    all: true,
  }),
})

interface Run {
  readonly id: string
  readonly display_name: string | null
  readonly evaluation_name: string
  readonly model_name: string
}

const runTarget = ({ team, project }: Place, run: Run): Target => ({
  label: run.display_name ?? `${run.evaluation_name} · ${run.model_name}`,
  group: 'Evaluation run',
  href: projectHref(team, project, `evaluations/${encodeURIComponent(run.id)}`),
})
