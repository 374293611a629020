import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from './api.js'

const EVERY_MS = 2000

/** The position that reads of a project reach, asked for every two seconds while the page is visible. */
export const usePosition = (projectId: string, isOn: boolean): string | undefined => {
  const { data } = useQuery({
    queryKey: ['position', projectId],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/pages/position', { params: { query: { project_id: projectId } }, signal })),
    enabled: isOn,
    refetchInterval: EVERY_MS,
    staleTime: 0,
  })
  return data?.position
}
