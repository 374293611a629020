import { withDefault } from '../../domain/codec/containers.js'
import { closed, open } from '../../domain/codec/struct.js'
import { execute } from '../../runtime/execute.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { ProjectCommand } from '../../domain/project/commands.js'
import { projectDecider } from '../../domain/project/decider.js'
import { projectStream, recordLevel, usageReporting } from '../../domain/project/events.js'
import { writesProject } from '../conduct.js'
import { invalidField } from '../failure.js'
import type { Reading } from '../reading.js'
import { route, type AnyRoute } from '../route.js'
import { projectInPath, requireWriting, type Teams } from './access.js'

const chosen = closed('ProjectSettings', {
  says: 'What is absent stays as it is; one of them has to be there.',
  optional: { usage_reporting: withDefault(usageReporting, null), record: withDefault(recordLevel, null) },
})

export interface Projects {
  readonly ports: Pick<Ports, 'eventStore' | 'ids'>
  readonly teams: Teams
  readonly reading: Reading
}

export const projectRoutes = ({ ports, teams, reading }: Projects): readonly AnyRoute[] => [
  route({
    method: 'put',
    path: '/api/projects/:entity/:project',
    summary:
      "Choose how a project's calls report usage, and what of its completions is recorded; both hold from their log " +
      'position on.',
    body: chosen,
    ...writesProject,
    answer: open('ProjectSettingsResponse', {
      required: { usage_reporting: usageReporting, record: recordLevel },
    }),
    handle: async ({ body: { usage_reporting, record }, params, principal, cause }) => {
      const project_id = projectInPath(params)
      if (usage_reporting === null && record === null)
        throw invalidField([], 'missing', 'Give usage_reporting, record or both')
      await requireWriting(teams, principal, project_id, cause)
      const commands: readonly ProjectCommand[] = [
        ...(usage_reporting === null
          ? []
          : [{ type: 'ChooseUsageReporting', project_id, usage_reporting } as const]),
        ...(record === null ? [] : [{ type: 'ChooseRecording', project_id, record } as const]),
      ]
      const { state, position } = await execute(ports)(
        projectDecider,
        projectStream(project_id),
        commands,
        cause,
      )
      return {
        body: { usage_reporting: state.usageReporting, record: state.record },
        position: reading.acknowledged(project_id, position),
      }
    },
  }),
]
