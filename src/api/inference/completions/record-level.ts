import type { IncomingHttpHeaders } from 'node:http'
import { foldCache } from '../../../runtime/fold-cache.js'
import type { Ports } from '../../../domain/ports/ports.js'
import { projectDecider } from '../../../domain/project/decider.js'
import {
  projectStream,
  recordLevel,
  type ProjectEvent,
  type RecordLevel,
} from '../../../domain/project/events.js'
import { invalid } from '../../failure.js'

const HEADER = 'Tallytree-Record'

/** What a project chose to have recorded of its completions, as the log has it now. */
export type ChosenRecordLevel = (project: string) => Promise<RecordLevel>

const MOST_PROJECTS = 10_000

export const chosenRecordLevels = (ports: Pick<Ports, 'eventStore'>): ChosenRecordLevel => {
  const { initialState, evolve } = projectDecider
  const folds = foldCache(
    ports,
    {
      initialState: () => initialState().record,
      copy: (record) => record,
      evolve: (record, { type, data }) =>
        evolve({ ...initialState(), record }, { type, data } as unknown as ProjectEvent).record,
      weightOf: () => 1,
    },
    MOST_PROJECTS,
  )
  return async (project) => (await folds(projectStream(project))).state
}

/**
 * What of a completion is recorded: what its project chose, or less, where the request asks for less.
 *
 * @throws Failure for a level that there is not
 */
export const recordLevelOf = async (
  chosen: ChosenRecordLevel,
  project: string,
  headers: IncomingHttpHeaders,
): Promise<RecordLevel> => {
  const asked = headers[HEADER.toLowerCase()] ?? 'all'
  if (!recordLevel.is(asked))
    throw invalid([
      { loc: ['header', HEADER], type: 'literal_error', msg: "Input should be 'all' or 'metadata'" },
    ])
  return asked === 'metadata' ? asked : chosen(project)
}
