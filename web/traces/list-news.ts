import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Row } from './call-cells.js'
import { usePosition } from '../kit/live.js'

type Answer = { readonly rows: readonly Row[]; readonly position: string }

/** How many calls are newer than the list, and the present state of the rows that it shows. */
export const useNews = (
  key: readonly unknown[],
  rows: readonly Row[],
  listPosition: string | undefined,
  isLive: boolean,
  ask: (offset: number, position: string | undefined, signal: AbortSignal) => Promise<Answer>,
) => {
  const position = usePosition(key[1] as string, isLive)
  const { data } = useQuery({
    queryKey: ['news', ...key, position],
    queryFn: ({ signal }) => ask(0, undefined, signal),
    enabled: isLive && position !== undefined && listPosition !== undefined && position !== listPosition,
    placeholderData: (before) => before,
  })
  return useMemo(() => {
    const known = new Set(rows.map(({ id }) => id))
    const newer =
      isLive && data !== undefined && BigInt(data.position || 0) > BigInt(listPosition || 0) ? data.rows : []
    return {
      fresh: newer.filter(({ id }) => !known.has(id)).length,
      changed: new Map(newer.filter(({ id }) => known.has(id)).map((row) => [row.id, row])),
    }
  }, [data, rows, isLive, listPosition])
}
