import type { ProjectDeleted } from '../../domain/access/events.js'
import { projectStream } from '../../domain/projects/project.js'
import type { Instant } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { entityOf, projectNameOf } from '../../kernel/ids.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Access } from '../access/access.js'
import { throwIfRefused } from '../access/rights.js'
import { deleteModel } from '../training/checkpoints.js'
import type { Training } from '../training/services.js'
import { deleteAutomation } from '../webhooks/automations.js'
import { automationsOf } from '../webhooks/current-state.js'

interface DeletingServices extends Pick<Ports, 'eventStore' | 'ids'> {
  readonly access: Pick<Access, 'run' | 'directory'>
  readonly training: Pick<Training, 'models' | 'collections' | 'index'>
}

/** Whether anything was noted of a project itself. */
export const isNoted = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  project: string,
): Promise<boolean> => {
  for await (const _ of eventStore.readStream(projectStream(project), { limit: 1, withUnreadable: true }))
    return true
  return false
}

/**
 * Deletes a project, and first what would act on it later: its automations, and its models with their jobs. Returns what is
 * recorded of it, also if it was deleted before.
 */
export const deleteProject = async (
  services: DeletingServices,
  deleted: ProjectDeleted,
  now: Instant,
  cause: Cause,
): Promise<{ readonly deleted: ProjectDeleted; readonly position: Position | undefined }> => {
  const { access, training } = services
  const { team, project_id } = deleted
  const known = access.directory().deletedProjects.get(project_id)
  if (known !== undefined) return { deleted: known, position: undefined }
  for (const automation of await automationsOf(services, team)) {
    const { scope } = automation.content
    const isItsOwn = scope.type === 'project' && scope.project === projectNameOf(project_id)
    if (isItsOwn && (scope.entity ?? team) === entityOf(project_id))
      await deleteAutomation(services, automation, cause)
  }
  for (const model of training.index.models())
    if (model.project_id === project_id)
      await deleteModel(training.models, training.collections)(model.model_id, now, cause)
  const { state, refusals, position } = await access.run({ type: 'DeleteProject', deleted }, cause)
  throwIfRefused(refusals.get(0))
  return { deleted: state.deletedProjects.get(project_id)!, position }
}
