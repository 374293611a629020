import type { IncomingHttpHeaders } from 'node:http'
import { load } from '../../kernel/execute.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { projectDecider } from '../../domain/projects/decider.js'
import { projectStream, recordLevel, type RecordLevel } from '../../domain/projects/events.js'
import { invalid } from '../../application/failure.js'

const HEADER = 'Tallytree-Record'

/** What a project chose to have recorded of its completions, as the log has it now. */
export type ChosenRecordLevel = (project: string) => Promise<RecordLevel>

export const chosenRecordLevels =
  (ports: Pick<Ports, 'eventStore'>): ChosenRecordLevel =>
  async (project) =>
    (await load(ports, projectDecider, projectStream(project))).state.record

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
