import type { CallsFilter } from '../calls/filter.js'
import { versionedCache } from '../../runtime/versioned-cache.js'
import type { MatchingCall } from './matching.js'

const MAX_CALLS = 50_000
const MAX_TRACES = 10_000

/** More calls than that are asked for of the engine together. */
const FEW = 100

type Located = Omit<MatchingCall, 'id'>

/**
 * What need not be asked twice: the trace of a call never changes once it is known, and the state of a trace as of a
 * position never changes at all. What was made from other tables is forgotten.
 */
export const remembered = () => {
  const traceOf = versionedCache<Located>({ maxSize: MAX_CALLS })
  const versionAt = versionedCache<string>({ maxSize: MAX_TRACES })
  return {
    versionAt,

    /** The calls of these ids, if their traces are all known. */
    calls: (
      projectId: string,
      tables: string,
      ids: readonly string[],
    ): readonly MatchingCall[] | undefined => {
      if (ids.length > FEW) return undefined
      const found = ids.flatMap((id): MatchingCall[] => {
        const known = traceOf.get(`${projectId}/${id}`, tables)
        return known === undefined ? [] : [{ id, ...known }]
      })
      return found.length === ids.length ? found : undefined
    },

    note: (projectId: string, tables: string, calls: readonly MatchingCall[]): void => {
      if (calls.length > FEW) return
      for (const { id, trace_id, hash } of calls)
        traceOf.put(`${projectId}/${id}`, tables, { trace_id, hash })
    },
  }
}

export type Remembered = ReturnType<typeof remembered>

/** The only key of a filter that says something, with its distinct values; undefined where others do. */
export const only = (
  key: 'trace_ids' | 'call_ids',
  filter: CallsFilter | null,
): readonly string[] | undefined => {
  const { [key]: values, ...others } = filter ?? { [key]: null }
  const isAlone = Object.values(others).every(
    (value) => value === null || value === false || (Array.isArray(value) && value.length === 0),
  )
  return values != null && values.length > 0 && isAlone ? [...new Set(values)] : undefined
}
