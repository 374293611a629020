import type { Services } from '../../application/services.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { execute, readState } from '../../kernel/execute.js'
import {
  type ProjectCommand,
  projectDecider,
  projectStream,
  recordLevel,
  usageReporting,
} from '../../domain/projects/project.js'
import { inPath } from '../server/authorization.js'
import { requireProjectAdministrator } from '../../application/access/rights.js'
import { invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { readProjectLog, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'

const chosen = closed('ProjectSettings', {
  says: 'Absent fields keep their values; at least one field is required.',
  optional: { usage_reporting: withDefault(usageReporting, null), record: withDefault(recordLevel, null) },
})

const settings = open('ProjectSettingsResponse', {
  required: { usage_reporting: usageReporting, record: recordLevel },
})

export const projectRoutes = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access' | 'reading' | 'throttle'>,
): readonly AnyRoute[] => [
  readProjectLog(services, {
    method: 'get',
    path: '/api/projects/:entity/:project',
    summary: "Reads a project's settings.",
    response: settings,
    project: inPath,
    handle:
      ({ project }) =>
      async () => {
        const state = await readState(services, projectDecider, projectStream(project))
        return { body: { usage_reporting: state.usageReporting, record: state.record } }
      },
  }),
  writeProject(services, {
    method: 'put',
    path: '/api/projects/:entity/:project',
    summary:
      "Set how a project's calls report usage and how much of its completions is recorded; both apply from the returned " +
      'log position on. Needs the role project_administrator for the project.',
    body: chosen,
    response: settings,
    project: inPath,
    errors: ['forbidden'],
    handle: ({ body: { usage_reporting, record }, project: project_id, principal }) => {
      requireProjectAdministrator(services.access, principal, project_id)
      if (usage_reporting === null && record === null)
        throw invalidField([], 'missing', 'Give usage_reporting, record or both')
      const commands: readonly ProjectCommand[] = [
        ...(usage_reporting === null
          ? []
          : [{ type: 'ChooseUsageReporting', project_id, usage_reporting } as const]),
        ...(record === null ? [] : [{ type: 'ChooseRecording', project_id, record } as const]),
      ]
      const stream = projectStream(project_id)
      return writing(
        (cause) => execute(services)(projectDecider, stream, commands, cause),
        ({ state }) => ({ usage_reporting: state.usageReporting, record: state.record }),
      )
    },
  }),
]
