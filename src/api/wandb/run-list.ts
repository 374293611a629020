import { Failure } from '../../application/failure.js'
import type { Json } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { countRuns, runIds } from '../../projections/runs/queries.js'
import { caughtUp, type Caller, type PageOf } from './caller.js'

export interface RunsAsked extends PageOf {
  readonly filters?: string | null
  readonly order?: string | null
}

const MAX_RUNS = 1000
const DEFAULT_RUNS = 50
const OLDEST_FIRST = '+created_at'

/** The runs of a project that a filter selects. A cursor is the number of runs up to it. */
export const runList = async (
  caller: Caller,
  project: string,
  { filters, order, first, after }: RunsAsked,
) => {
  const filter = filterIn(filters)
  const limit = Math.min(MAX_RUNS, Math.max(0, first ?? DEFAULT_RUNS))
  const offset = after == null || after === '' ? 0 : Number(after)
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new Failure('bad-request', 'after should be the cursor of an edge.')
  const reader = await caughtUp(caller, project)
  const asked = { project, filter, order: order || OLDEST_FIRST, limit: limit + 1, offset }
  const found = await runIds(reader, caller.services.compilePattern)(asked)
  const shown = found.slice(0, limit)
  caller.budget.spend('items', shown.length)
  return {
    totalCount: () => runCount(caller, project, filters),
    edges: shown.map((run, at) => ({
      node: () => caller.nodes.run(caller, project, run),
      cursor: String(offset + at + 1),
    })),
    pageInfo: {
      hasNextPage: found.length > limit,
      endCursor: shown.length === 0 ? null : String(offset + shown.length),
    },
  }
}

export const runCount = async (caller: Caller, project: string, filters: string | null | undefined) => {
  const filter = filterIn(filters)
  return countRuns(await caughtUp(caller, project), caller.services.compilePattern)({ project, filter })
}

const filterIn = (text: string | null | undefined): Json => {
  if (text == null || text === '') return {}
  try {
    return parseJson(text) ?? {}
  } catch {
    throw new Failure('bad-request', 'filters should be JSON text.')
  }
}
