import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../kit/api.js'
import { useIdInPath, usePlace } from '../kit/place.js'
import { Failed, Loading } from '../kit/states.js'
import { TraceView } from './trace-view.js'

/** A trace: its calls as tree and waterfall, and the details of the selected call. */
export const TracePage = () => {
  const { team, project, projectId } = usePlace()
  const traceId = useIdInPath('trace')
  const trace = useQuery({
    queryKey: ['trace', projectId, traceId],
    queryFn: ({ signal }) =>
      dataOf(api.POST('/api/pages/trace', { body: { project_id: projectId, trace_id: traceId }, signal })),
    placeholderData: (before) => before,
  })
  if (trace.isError)
    return (
      <div className="page">
        <Failed error={trace.error} what="The trace" onRetry={() => void trace.refetch()} />
      </div>
    )
  if (trace.data === undefined)
    return (
      <div className="page">
        <Loading what="the trace" />
      </div>
    )
  return (
    <TraceView
      key={`${team}/${project}/${traceId}`}
      traceId={traceId}
      trace={trace.data}
      isOld={trace.isPlaceholderData}
      onRefresh={() => void trace.refetch()}
    />
  )
}
