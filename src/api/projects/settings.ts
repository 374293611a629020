import type { Services } from '../../application/services.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { closed, open } from '../../kernel/codec/struct.js'
import {
  cacheSeconds,
  contentDays,
  endUserAttribute,
  exceptions,
  recordLevel,
  usageReporting,
  type ProjectState,
} from '../../domain/projects/project.js'
import { requireErasable } from '../../application/projects/erasable.js'
import { changeSettings, projectNow } from '../../application/projects/projects.js'
import { inPath } from '../server/authorization.js'
import { requireProjectAdministrator, requireTeamAdministrator } from '../../application/access/rights.js'
import { invalidField } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { readProjectLog, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'

const retention = closed('Retention', {
  says:
    'After `content_days` days the content of calls is erased; 0 for never. Figures stay. Calls in `except` keep their content: ' +
    '`with_feedback`, `in_datasets` (a row of a dataset names the call), `in_annotation_queues`, `in_evaluations`. Without ' +
    '`except` the exceptions stay as they are. After `figures_days` days the calls are erased with their figures; 0 for never. ' +
    'Then an exception keeps all calls of its trace.',
  required: { content_days: contentDays },
  optional: { except: withDefault(exceptions, null), figures_days: withDefault(contentDays, null) },
})

const chosen = closed('ProjectSettings', {
  says: 'Absent fields keep their values; at least one field is required.',
  optional: {
    usage_reporting: withDefault(usageReporting, null),
    record: withDefault(recordLevel, null),
    /** For how long answers of models are given again to equal requests; 0 for never. */
    cache_seconds: withDefault(cacheSeconds, null),
    /** Read before the usual attributes; empty for none. */
    end_user_attribute: withDefault(endUserAttribute, null),
    /** Needs the role team_administrator. */
    retention: withDefault(retention, null),
  },
})

const settings = open('ProjectSettingsResponse', {
  required: {
    usage_reporting: usageReporting,
    record: recordLevel,
    cache_seconds: cacheSeconds,
    end_user_attribute: endUserAttribute,
    retention: open('RetentionResponse', {
      required: { content_days: contentDays, except: exceptions, figures_days: contentDays },
    }),
  },
})

const settingsOf = ({
  usageReporting,
  record,
  cacheSeconds,
  endUserAttribute,
  contentDays: content_days,
  except,
  figuresDays: figures_days,
}: ProjectState) => ({
  usage_reporting: usageReporting,
  record,
  cache_seconds: cacheSeconds,
  end_user_attribute: endUserAttribute,
  retention: { content_days, except, figures_days },
})

const readSettings = (services: Pick<Services, 'eventStore' | 'access' | 'reading'>): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: '/api/projects/:entity/:project',
    summary: "Reads a project's settings.",
    response: settings,
    project: inPath,
    handle:
      ({ project }) =>
      async () => ({ body: settingsOf(await projectNow(services, project)) }),
  })

type WriteServices = Pick<Services, 'eventStore' | 'ids' | 'access' | 'reading' | 'throttle'>

const writeSettings = (services: WriteServices): AnyRoute =>
  writeProject(services, {
    method: 'put',
    path: '/api/projects/:entity/:project',
    summary:
      "Set how a project's calls report usage, which attribute names their end users, and how its completions are recorded and " +
      'cached, and when content is erased; all apply from the returned log position on. Needs the role project_administrator for the project.',
    body: chosen,
    response: settings,
    project: inPath,
    errors: ['forbidden', 'conflict'],
    handle: async ({ body, project, principal }) => {
      requireProjectAdministrator(services.access, principal, project)
      if (body.retention !== null) {
        requireTeamAdministrator(services.access, principal, project)
        const { content_days, figures_days } = body.retention
        const days = figures_days ?? (await projectNow(services, project)).figuresDays
        if (content_days + days > 0) requireErasable(services)
        if (days > 0 && days < content_days)
          throw invalidField(
            ['retention', 'figures_days'],
            'value_error',
            `Value error, ${days} is less than content_days: figures are kept for at least as long as content`,
          )
      }
      if (Object.values(body).every((value) => value === null))
        throw invalidField(
          [],
          'missing',
          'Give usage_reporting, record, cache_seconds, end_user_attribute or retention',
        )
      return writing(changeSettings(services, project, body), ({ state }) => settingsOf(state))
    },
  })

export const projectRoutes = (services: WriteServices): readonly AnyRoute[] => [
  readSettings(services),
  writeSettings(services),
]
