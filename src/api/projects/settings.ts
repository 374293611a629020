import { closed, open } from '../../domain/codec/struct.js'
import { execute } from '../../domain/execute.js'
import type { Ports } from '../../domain/ports/ports.js'
import { projectDecider } from '../../domain/project/decider.js'
import { projectStream, usageReporting } from '../../domain/project/events.js'
import { writesProject } from '../conduct.js'
import type { Reading } from '../reading.js'
import { route, type AnyRoute } from '../route.js'
import { projectInPath, requireWriting, type Teams } from './access.js'

const settings = { required: { usage_reporting: usageReporting } }

export interface Projects {
  readonly ports: Pick<Ports, 'eventStore' | 'ids'>
  readonly teams: Teams
  readonly reading: Reading
}

export const projectRoutes = ({ ports, teams, reading }: Projects): readonly AnyRoute[] => [
  route({
    method: 'put',
    path: '/api/projects/:entity/:project',
    summary: "Choose how a project's calls report usage; it holds from its log position on.",
    body: closed('ProjectSettings', settings),
    ...writesProject,
    answer: open('ProjectSettingsResponse', settings),
    handle: async ({ body: { usage_reporting }, params, principal, cause }) => {
      const project_id = projectInPath(params)
      await requireWriting(teams, principal, project_id, cause)
      const command = { type: 'ChooseUsageReporting', project_id, usage_reporting } as const
      const { position } = await execute(ports)(projectDecider, projectStream(project_id), [command], cause)
      return { body: { usage_reporting }, position: reading.acknowledged(project_id, position) }
    },
  }),
]
