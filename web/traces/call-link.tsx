import { useQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import { api, ApiError, dataOf } from '../kit/api.js'
import { useIdInPath, usePlace } from '../kit/place.js'
import { Failed, Loading } from '../kit/states.js'

/** Leads from the id of a call, or of a trace, to the call in its trace. */
export const CallLink = () => {
  const { team, project, projectId } = usePlace()
  const id = useIdInPath('call')
  const found = useQuery({
    queryKey: ['call link', projectId, id],
    queryFn: async ({ signal }) => {
      const by = async (filter: object) => {
        const body = { project_id: projectId, filter, limit: 1 }
        return (await dataOf(api.POST('/api/pages/calls', { body, signal }))).rows[0]
      }
      const call = (await by({ call_ids: [id] })) ?? (await by({ trace_ids: [id] }))
      if (call === undefined) throw new ApiError(404, 'Call not found.', '', undefined)
      return call
    },
  })
  if (found.isError)
    return (
      <div className="page">
        <Failed error={found.error} what="The call" onRetry={() => void found.refetch()} />
      </div>
    )
  if (found.isPending)
    return (
      <div className="page">
        <Loading what="the call" />
      </div>
    )
  const { trace_id, id: callId, parent_id } = found.data
  return (
    <Navigate
      to="/$team/$project/traces/$trace"
      params={{ team, project, trace: trace_id }}
      search={parent_id === null || callId !== id ? {} : { call: callId }}
      replace
    />
  )
}
