import { requireTeamAdministrator } from '../../application/access/rights.js'
import { erasureOf } from '../../application/erasures/erasures.js'
import { requestOfDeletion } from '../../application/erasures/project-job.js'
import { Failure } from '../../application/failure.js'
import { deleteProject, isNoted } from '../../application/erasures/delete-project.js'
import { requireErasable } from '../../application/projects/erasable.js'
import type { Services } from '../../application/services.js'
import type { Training } from '../../application/training/services.js'
import { nullable, withDefault } from '../../kernel/codec/containers.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { number, oneOf } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import { entityOf } from '../../kernel/ids.js'
import { contentsOf } from '../../projections/projects/contents.js'
import { erasure } from './codecs.js'
import { inPath, teamOfProject } from '../server/authorization.js'
import { presentConditionsIn } from '../server/read-conditions.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, changeAuthorized } from '../server/route-kinds.js'

const contents = open('ProjectContents', {
  says:
    'What a project has, with what was deleted in it. `bytes` are those of calls, objects, tables and files, without what was ' +
    'deleted.',
  required: {
    calls: number,
    feedback: number,
    object_versions: number,
    tables: number,
    files: number,
    artifact_versions: number,
    runs: number,
    annotation_queues: number,
    bytes: number,
  },
})

type DeletionServices = Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access' | 'reading'> & {
  readonly training: Pick<Training, 'models' | 'collections' | 'index'>
}

export const deleteProjectRoute = (services: DeletionServices): AnyRoute =>
  changeAuthorized(services, {
    method: 'delete',
    path: '/api/projects/:entity/:project',
    summary:
      'Deletes a project for ever. It can no longer be read or written, its name cannot be used again, and its content is erased: ' +
      'the answer is the erasure, whose progress and receipt stay readable. Usage and costs stay in the totals of the team. With ' +
      'dry_run it only answers what the project has. Needs the role team_administrator.',
    query: closed('DeleteProject', {
      optional: {
        dry_run: withDefault(oneOf('true', 'false'), 'false'),
        reason: withDefault(nullable(textUpToCharacters(1000)), null),
      },
    }),
    requestHeaders: ['Tallytree-Min-Position'],
    errors: [...alsoReads.errors, 'forbidden', 'conflict', 'bad-request'],
    response: open('DeleteProjectResponse', {
      optional: { erasure: nullable(erasure), preview: nullable(contents) },
    }),
    authorization: teamOfProject(services.access, inPath),
    handle: async ({ project, principal, headers, reader, query: { dry_run, reason } }) => {
      requireTeamAdministrator(services.access, principal, project)
      requireErasable(services)
      const { deletedProjects } = services.access.directory()
      if (!deletedProjects.has(project)) {
        const conditions = { ...presentConditionsIn(headers), stale: false }
        const position = await services.reading.waitForNow(project, conditions)
        const found = await contentsOf(reader, project, position)
        if (dry_run === 'true') return () => ({ body: { erasure: null, preview: found } })
        if (Object.values(found).every((count) => count === 0) && !(await isNoted(services, project)))
          throw new Failure('not-found', `There is nothing in the project ${project}.`)
      } else if (dry_run === 'true') throw new Failure('not-found', `The project ${project} was deleted.`)
      return async (cause) => {
        const deleted_at = instantOf(services.clock.now())
        const { deleted, position } = await deleteProject(
          services,
          {
            ...{ team: entityOf(project), project_id: project, erasure_id: services.ids.next() },
            ...{ deleted_at, deleted_by: principal.userId, reason },
          },
          deleted_at,
          cause,
        )
        await requestOfDeletion(services, deleted, cause)
        const requested = (await erasureOf(services, project, deleted.erasure_id)) ?? null
        return { body: { erasure: requested, preview: null }, position }
      }
    },
  })
