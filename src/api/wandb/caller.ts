import PQueue from 'p-queue'
import type { Collections } from '../../application/artifacts/collections.js'
import { ReadBudget } from '../../application/read-budget.js'
import type { RunHistory } from '../../application/runs/history.js'
import type { Runs } from '../../application/runs/runs.js'
import { NO_CONDITIONS } from '../../application/reading/reading.js'
import type { Services } from '../../application/services.js'
import { Failure } from '../../application/failure.js'
import type { Principal } from '../../application/principal.js'
import { authorizeRead } from '../../application/access/project-access.js'
import { entityOf, PROJECT_RULE, projectName, teamName } from '../../kernel/ids.js'
import type { CollectionPlace } from '../../domain/artifacts/place.js'
import type { Cause } from '../../kernel/event.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Links } from '../files/links.js'
import { acknowledgeProjects, prepareProjects } from '../server/write-steps.js'

export type GraphQlServices = Pick<
  Services,
  keyof Ports | 'access' | 'reading' | 'throttle' | 'signer' | 'publicUrl' | 'maxFileBytes' | 'compilePattern'
>

/** What all requests share. */
export interface GraphQlTools {
  readonly services: GraphQlServices
  readonly runs: Runs
  readonly history: RunHistory
  readonly collections: Collections
  readonly nodes: Nodes
}

/** Objects that refer to one another, resolved by what names them. Null for what is not there. */
export interface Nodes {
  readonly project: (caller: Caller, project: string) => unknown
  readonly run: (caller: Caller, project: string, run: string) => unknown
  readonly artifact: (caller: Caller, id: string) => unknown
  readonly artifactNamed: (caller: Caller, project: string, name: string) => unknown
  readonly collection: (caller: Caller, project: string, name: string) => unknown
  /** Also one that has drafts alone. */
  readonly collectionAt: (caller: Caller, place: CollectionPlace) => unknown
  readonly collections: (caller: Caller, project: string, type: string | null, page: PageOf) => unknown
}

/** One request, and what its fields are resolved with. */
export interface Caller extends GraphQlTools {
  readonly principal: Principal
  readonly cause: Cause
  readonly links: Links
  /** Of the read models, which `caughtUp` makes have the acknowledged writes of a project. */
  readonly reader: ClickHouseReader
  /** Makes the response have the position of a write to a project. */
  readonly wrote: (project: string, position: Position | undefined) => void
  readonly budget: ReadBudget
}

/** Lists of one request that are read at a time: others wait for the readers too. */
const READS_AT_ONCE = 4

export const callerOf = (
  tools: GraphQlTools,
  request: Pick<Caller, 'principal' | 'cause' | 'links' | 'reader'>,
) => {
  let written: Position | undefined
  const reads = new PQueue({ concurrency: READS_AT_ONCE })
  const { reader } = request
  const caller: Caller = {
    ...tools,
    ...request,
    budget: new ReadBudget(),
    reader: {
      ...reader,
      query: (...asked) => reads.add(() => reader.query(...asked), { throwOnTimeout: true }),
    },
    wrote: (project, position) => {
      const acknowledged = acknowledgeProjects(tools.services, [project], position)
      if (written === undefined || (acknowledged !== undefined && acknowledged > written))
        written = acknowledged
    },
  }
  return { caller, lastWritten: () => written }
}

/** The entity of requests that name none; undefined for a user without a team. */
export const defaultEntityOf = ({ administrator, teams }: Principal): string | undefined =>
  administrator ? 'default' : teams[0]

export interface ProjectNames {
  readonly name?: string | null
  readonly entityName?: string | null
}

/** The id of the project that a request names. @throws Failure for names that none can have */
export const projectIdOf = (principal: Principal, { name, entityName }: ProjectNames): string => {
  if (name == null || name === '')
    throw new Failure('bad-request', 'name is required: the name of the project.')
  const entity = entityName == null || entityName === '' ? defaultEntityOf(principal) : entityName
  if (entity === undefined)
    throw new Failure('bad-request', 'entityName is required: the user of the API key is in no team.')
  if (!teamName.is(entity))
    throw new Failure(
      'bad-request',
      'entityName should have 1 to 128 letters, digits, dots, underscores or hyphens.',
    )
  if (!projectName.is(name)) throw new Failure('bad-request', `name is not valid: ${PROJECT_RULE}.`)
  for (const [field, one] of Object.entries({ entityName: entity, name }))
    if (one === '.' || one === '..')
      throw new Failure('bad-request', `${field} should not be '${one}', which no address can contain.`)
  return `${entity}/${name}`
}

/**
 * The project that a mutation writes to, ready to be written to. A name of a team that is not there is taken for a mistake, but
 * where SDKs for tracing begin.
 */
export const projectToWrite = async (
  caller: Caller,
  names: ProjectNames,
  team: 'or-make-team' | 'is-there' = 'is-there',
): Promise<string> => {
  const { services, principal, cause } = caller
  const project = projectIdOf(principal, names)
  authorizeRead(services.access, principal, project)
  if (team === 'is-there') requireTeam(caller, entityOf(project))
  await prepareProjects(services, [project], principal, cause)
  return project
}

/** @throws Failure for an administrator who names a team that is not there; others have no access to it */
export const requireTeam = ({ services, principal }: Caller, team: string): void => {
  const { teams } = services.access.directory()
  if (!principal.administrator || teams.has(team) || team === defaultEntityOf(principal)) return
  throw new Failure(
    'not-found',
    `Entity ${team} not found. Check its name, or make the team with POST /api/teams {"name": "${team}"}.`,
  )
}

/** Waits until the read models have all acknowledged writes of a project. */
export const caughtUp = async (
  { services, reader, budget }: Caller,
  project: string,
): Promise<ClickHouseReader> => {
  budget.spend('reads', 1)
  await services.reading.waitForNow(project, NO_CONDITIONS)
  return reader
}

export const canSee = ({ services, principal }: Caller, entity: string): boolean =>
  services.access.canAccessTeam(principal, entity)

export const canSeeProject = ({ services, principal }: Caller, project: string): boolean =>
  services.access.canAccessProject(principal, project)

export interface PageOf {
  readonly first?: number | null
  readonly after?: string | null
}

export const MAX_PAGE = 5000

/** A page of a list in the order of its keys. */
export const connectionOf = <A, B>(
  caller: Caller,
  items: readonly A[],
  { first, after }: PageOf,
  keyOf: (item: A) => string,
  nodeOf: (item: A) => B,
) => {
  const limit = Math.min(MAX_PAGE, Math.max(0, first ?? MAX_PAGE))
  const at = after == null ? 0 : items.findIndex((item) => keyOf(item) === after) + 1
  const shown = items.slice(at, at + limit)
  caller.budget.spend('items', shown.length)
  return {
    totalCount: items.length,
    edges: shown.map((item) => ({ node: nodeOf(item), cursor: keyOf(item) })),
    pageInfo: {
      hasNextPage: at + shown.length < items.length,
      endCursor: shown.length === 0 ? null : keyOf(shown.at(-1)!),
    },
  }
}
