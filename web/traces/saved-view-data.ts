import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../kit/api.js'
import type { SavedView } from './saved-view.js'

interface StoredView {
  readonly object_id: string
  readonly val: unknown
}

/** The saved views of a project, with the ids of their objects. */
export const savedViews = (projectId: string) =>
  queryOptions({
    queryKey: ['saved views', projectId],
    queryFn: async ({ signal }) => {
      const filter = { base_object_classes: ['SavedView'], latest_only: true }
      const { objs } = await dataOf(
        api.POST('/objs/query', { body: { project_id: projectId, filter }, signal }),
      )
      return (objs as readonly StoredView[]).map(({ object_id, val }) => ({
        object_id,
        view: val as SavedView,
      }))
    },
  })
