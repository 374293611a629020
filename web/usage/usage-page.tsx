import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { AppLink } from '../kit/app-link.js'
import { api, dataOf } from '../kit/api.js'
import { usePlace } from '../kit/place.js'
import { printSearch } from '../kit/search.js'
import { useRights } from '../kit/session.js'
import { useTitle } from '../kit/title.js'
import type { Operand } from '../traces/filter.js'
import { Conditions } from '../traces/filter-bar.js'
import { SavedViews } from '../traces/saved-views.js'
import { USAGE_VIEWS } from './usage-saved-view.js'
import { UsageView } from './usage-view.js'

const DIMENSIONS = ['model', 'op', 'root_op', 'end_user', 'user', 'key', 'environment', 'status', 'thread']
const MAX_ATTRIBUTES = 20

/** Automations judge events, which do not know what all calls below used. */
const queryText = (conditions: readonly Operand[]): string => {
  const $and = conditions.filter((one) => !JSON.stringify(one).includes('$usedModel'))
  return $and.length === 0 ? '' : JSON.stringify({ $expr: { $and } }, null, 2)
}

/** The usage of a project by what is chosen. */
export const UsagePage = () => {
  const { team, project, projectId } = usePlace()
  const { canSetUp } = useRights(team)
  useTitle('Usage')
  const scope = useMemo(() => ({ team, project }), [team, project])
  const { data: fields } = useQuery({
    queryKey: ['attributes', projectId],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/api/pages/fields', {
          params: {
            query: { project_id: projectId, contains: 'attributes.', limit: String(MAX_ATTRIBUTES) as never },
          },
          signal,
        }),
      ),
  })
  const attributes = (fields?.data ?? [])
    .map(({ path }) => path)
    .filter((path) => path.startsWith('attributes.'))
  return (
    <div className="page">
      <div className="bar" role="search">
        <h1>Usage</h1>
        <Conditions />
        <span className="spacer" />
        <SavedViews kind={USAGE_VIEWS} />
      </div>
      <UsageView scope={scope} dimensions={[...DIMENSIONS, ...attributes]} initialBy="model">
        {({ metric, conditions }) =>
          canSetUp(project) && (
            <AppLink
              className="button"
              href={
                `/${team}/-/automations/new` +
                printSearch({
                  project,
                  event: 'CALL_USAGE_THRESHOLD',
                  measure: metric === 'total_cost' ? 'cost' : 'total_tokens',
                  query: queryText(conditions),
                })
              }
            >
              New automation
            </AppLink>
          )
        }
      </UsageView>
    </div>
  )
}
