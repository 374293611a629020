import { entityOf } from '../../kernel/ids.js'
import { invalidField } from '../../application/failure.js'
import type { Cause } from '../../kernel/event.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Principal } from '../../application/principal.js'
import type { Services } from '../../application/services.js'

/** The steps before a write to projects. */
export const prepareProjects = async (
  { access, throttle }: Pick<Services, 'access' | 'throttle'>,
  projects: readonly string[],
  principal: Principal,
  cause: Cause,
): Promise<void> => {
  // Between a team and its pages there is `-` in place of a project.
  if (projects.some((project) => project.endsWith('/-')))
    throw invalidField(['project_id'], 'value_error', 'A project cannot have the name -')
  for (const entity of new Set(projects.map(entityOf))) {
    await access.ensureTeam(principal, entity, cause)
    await throttle(entity)
  }
}

/** The step after a write to projects: returns the position at which it is readable in all of them. */
export const acknowledgeProjects = (
  { reading }: Pick<Services, 'reading'>,
  projects: readonly string[],
  written: Position | undefined,
): Position | undefined => {
  let last = written
  for (const project of projects) {
    const position = reading.ackPosition(project, written)
    if (last === undefined || position > last) last = position
  }
  return last
}
