import { isAdministrator, rolesIn } from '../../domain/access/look-ups.js'
import type { ReadObject } from '../../domain/evaluations/resolve-judge.js'
import { parseRef } from '../../domain/refs/ref.js'
import { entityOf } from '../../kernel/ids.js'
import { parseJson } from '../../kernel/json/parse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { StoreUnavailable } from '../../kernel/ports/event-store-errors.js'
import { resolveRefs, type Sources } from '../refs/resolve.js'
import { sourcesFrom } from '../calls/ref-sources.js'
import type { EvaluationServices } from './services.js'

/** The user on whose behalf a run or a rule reads and writes. */
export interface RunUser {
  readonly userId: string
  readonly keyId: string
}

export type ReadServices = Pick<EvaluationServices, 'eventStore' | 'clickHouse' | 'readModels' | 'directory'>

export const READABLE_WITHIN_MS = 30_000

/** The position of the read models once they hold everything that is in the log now. */
export const positionNow = async ({
  eventStore,
  readModels,
}: Pick<ReadServices, 'eventStore' | 'readModels'>): Promise<Position> => {
  if (await readModels.waitFor(await eventStore.head(), READABLE_WITHIN_MS)) return readModels.reached()
  // Rows that are not projected yet would be left out of the run.
  throw new StoreUnavailable('the read models lag behind the event log')
}

/** The values that the user may read now. */
export const sourcesOf = (services: ReadServices, { userId }: RunUser): Sources => {
  let position: Promise<Position> | undefined
  return sourcesFrom(services.clickHouse.reader, async (projectId) => {
    const directory = services.directory()
    const mayRead =
      !directory.deletedProjects.has(projectId) &&
      (isAdministrator(directory, userId) || rolesIn(directory, userId, entityOf(projectId)).length > 0)
    return mayRead ? (position ??= positionNow(services)) : undefined
  })
}

export const readObject =
  (sources: () => Sources): ReadObject =>
  async (ref) => {
    const [text] = await resolveRefs(sources(), [parseRef(ref)])
    return parseJson(text ?? 'null') ?? undefined
  }

/** Reads objects as the user may read them now. */
export const readObjectAs = (services: ReadServices, user: RunUser): ReadObject =>
  readObject(() => sourcesOf(services, user))
