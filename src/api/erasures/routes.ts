import { requireTeamAdministrator } from '../../application/access/rights.js'
import { requireBoundedFilter } from '../../application/calls/filter.js'
import { erasureOf, latestErasures, previewErasure } from '../../application/erasures/erasures.js'
import { writeErasure } from '../../application/erasures/job.js'
import { requireErasable } from '../../application/projects/erasable.js'
import { erasureSelection, selectionAt } from '../../application/erasures/selection.js'
import { Failure, invalidField } from '../../application/failure.js'
import type { Services } from '../../application/services.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { boolean, number } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import { compileSelection } from '../../projections/calls/select.js'
import { inPath, teamOfProject } from '../server/authorization.js'
import { erasure } from './codecs.js'
import { repeatableId } from '../server/idempotency.js'
import { presentConditionsIn } from '../server/read-conditions.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, changeProject, idempotent, readLog } from '../server/route-kinds.js'

const PATH = '/api/projects/:entity/:project/erasures'

const erasureRequest = closed('ErasureRequest', {
  required: { selection: erasureSelection, reason: textUpToCharacters(1000) },
  optional: {
    /** Erases the figures of these calls and of all below them too: they are in no list and no total any more. */
    figures: withDefault(boolean, false),
    /** Only answers what would be erased. */
    dry_run: withDefault(boolean, false),
  },
})

const preview = open('ErasurePreview', {
  says: 'What would be erased. Bytes are those of the JSON of inputs, attributes, outputs, summaries and exceptions.',
  required: { calls: number, bytes: number, oldest: nullable(instant) },
})

type ErasureServices = Pick<Services, 'eventStore' | 'clock' | 'ids' | 'sha256' | 'access' | 'reading'>

export const erasureRoutes = (services: ErasureServices): readonly AnyRoute[] => [
  requestErasure(services),
  listErasures(services),
  showErasure(services),
]

const requestErasure = (services: ErasureServices): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: PATH,
    summary:
      'Erases the content of calls for ever: inputs, outputs, attributes, exceptions and their files. Times, models, usage, costs ' +
      'and status stay, unless `figures` is true. With dry_run it only answers what would be erased. Needs the role team_administrator.',
    body: erasureRequest,
    requestHeaders: ['Tallytree-Min-Position', ...idempotent.requestHeaders],
    errors: [...alsoReads.errors, ...idempotent.errors, 'forbidden', 'bad-request'],
    response: open('ErasureResponse', {
      optional: { erasure: nullable(erasure), preview: nullable(preview) },
    }),
    project: inPath,
    handle: async (request) => {
      const { body, project, principal, headers, reader } = request
      const { selection, reason, dry_run, figures } = body
      requireTeamAdministrator(services.access, principal, project)
      requireErasable(services)
      requireBoundedFilter(selection.filter)
      if (selection.filter === null && selection.query === null)
        throw invalidField(['selection'], 'missing', 'Give filter or query')
      compileSelection(selectionAt(project, selection, 0n), [])
      if (dry_run) {
        const conditions = { ...presentConditionsIn(headers), stale: false }
        const position = await services.reading.waitForNow(project, conditions)
        const found = await previewErasure(reader, project, selection, position, figures)
        return () => ({ body: { erasure: null, preview: found } })
      }
      const id = repeatableId(services, request, 'erasure', project)
      return async (cause) => {
        const { filter, query, with_descendants, except } = selection
        const { position, readableAt } = await writeErasure(services, {
          type: 'RequestErasure',
          request: {
            ...{ project_id: project, id, requested_at: instantOf(services.clock.now()) },
            ...{
              requested_by: principal.userId,
              reason,
              with_descendants,
              whole_project: false,
              erased: false,
            },
            filter,
            query,
            except,
            figures,
          },
        })(cause)
        const requested = (await erasureOf(services, project, id)) ?? null
        return { body: { erasure: requested, preview: null }, position, readableAt }
      }
    },
  })

const MANY = 100

const listErasures = (services: ErasureServices): AnyRoute =>
  readLog(services, {
    method: 'get',
    path: PATH,
    summary:
      'Lists the latest erasures of content in a project, newest first, with their progress and receipts.',
    response: open('ErasureList', { required: { data: arrayOf(erasure) } }),
    authorization: teamOfProject(services.access, inPath),
    handle:
      ({ project }) =>
      async () => ({ body: { data: await latestErasures(services, project, MANY) } }),
  })

const showErasure = (services: ErasureServices): AnyRoute =>
  readLog(services, {
    method: 'get',
    path: `${PATH}/:id`,
    summary: 'The progress and the receipt of an erasure.',
    errors: ['not-found'],
    response: erasure,
    authorization: teamOfProject(services.access, inPath),
    handle:
      ({ project, params }) =>
      async () => {
        const found = await erasureOf(services, project, params['id'] ?? '')
        if (found === undefined) throw new Failure('not-found', 'Erasure not found.')
        return { body: found }
      },
  })
