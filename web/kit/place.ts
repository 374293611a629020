import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Search } from './search.js'

export interface Place {
  readonly team: string
  readonly project: string
}

type PathPart = 'trace' | 'call' | 'id' | 'tab' | 'name' | 'version' | 'model' | 'job' | 'run' | 'thread'
type Params = Partial<Record<'team' | 'project' | PathPart, string>>

/** A part of the path, '' if it has none. */
export const useIdInPath = (name: PathPart): string =>
  (useParams({ strict: false }) as unknown as Params)[name] ?? ''

/** The team and project of the address, '' where it names none. */
export const usePlace = (): Place & { readonly projectId: string } => {
  const { team = '', project = '' } = useParams({ strict: false }) as unknown as Params
  return { team, project, projectId: `${team}/${project}` }
}

/** The page's state in the address. Setting '' removes a value; `replace` makes no entry in the history. */
export const useAddress = (): [Search, (changes: Search, replace?: boolean) => void] => {
  const search = useSearch({ strict: false }) as unknown as Search
  const navigate = useNavigate()
  const set = useCallback(
    (changes: Search, replace = false) =>
      void navigate({
        to: '.',
        search: (before: Search) => ({ ...before, ...changes }),
        replace,
        resetScroll: false,
      }),
    [navigate],
  )
  return [search, set]
}
