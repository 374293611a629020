import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from './api.js'
import { useAsOf } from './as-of.js'

const EVERY_MS = 2000

/** The position that reads of a project reach, asked for every two seconds while the page shows the present. */
export const usePosition = (projectId: string, isOn: boolean): string | undefined => {
  const isPresent = useAsOf() === ''
  const { data } = useQuery({
    queryKey: ['position', projectId],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/pages/position', { params: { query: { project_id: projectId } }, signal })),
    enabled: isOn && isPresent,
    refetchInterval: EVERY_MS,
    staleTime: 0,
  })
  return data?.position
}
