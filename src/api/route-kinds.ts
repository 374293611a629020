import { entityOf } from '../domain/ids.js'
import type { Position } from '../domain/ports/event-store.js'
import type { FailureKind } from './failure.js'
import { authorizeRead, projectInPath, type Teams } from './projects/access.js'
import type { Reading } from './reading.js'
import type {
  AnyRoute,
  RequestHeader,
  ResponseHeader,
  RouteRequest,
  RouteResponse,
  RouteSpec,
} from './route.js'
import { runRead, runWrite, type AnyRequest, type PlannedRead, type PlannedWrite } from './run.js'

type Eventually<A> = A | Promise<A>

/** Who may use a route. What it finds on the way, such as the team, is added to the request. */
export interface Authorization<Scope extends object> {
  /** How it refuses, beyond a missing key. */
  readonly errors: readonly FailureKind[]
  readonly authorize: (request: AnyRequest) => Eventually<Scope>
}

/** A route with its handler, which sees the request as the kind's authorisation completed it. */
type Handling<Body, Query, Scope, Handled> = RouteSpec<Body, Query> & {
  readonly handle: (request: RouteRequest<Body, Query> & Scope) => Eventually<Handled>
}

type Authorized<Scope extends object> = { readonly authorization: Authorization<Scope> }

/** Where a request names its project; several for a batch. */
type NamesProject<Body, Query, Project> = {
  readonly project: (request: RouteRequest<NoInfer<Body>, NoInfer<Query>>) => Project
}

export const inBody = ({ body }: { readonly body: { readonly project_id: string } }): string =>
  body.project_id
export const inQuery = ({ query }: { readonly query: { readonly project_id: string } }): string =>
  query.project_id
export const inPath = ({ params }: Pick<RouteRequest, 'params'>): string => projectInPath(params)

export interface ProjectReads {
  readonly teams: Teams
  readonly reading: Reading
}

export interface ProjectWrites extends ProjectReads {
  /** Delays a write while the read side lags. */
  readonly throttle: () => Promise<void>
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the kind ties body and query to the handler
type AnySpec = RouteSpec<any, any>

interface Described {
  readonly requestHeaders: readonly RequestHeader[]
  readonly errors: readonly FailureKind[]
  readonly responseHeaders: readonly ResponseHeader[]
}

const described = (
  { requestHeaders = [], errors = [], ...spec }: AnySpec,
  kind: Described,
  authorization: Pick<Authorization<object>, 'errors'>,
  handle: AnyRoute['handle'],
): AnyRoute => ({
  ...spec,
  requestHeaders: [...kind.requestHeaders, ...requestHeaders],
  errors: [...kind.errors, ...authorization.errors, ...errors],
  responseHeaders: kind.responseHeaders,
  handle,
})

const NO_POSITION = { requestHeaders: [], errors: [], responseHeaders: [] } as const
const PRESENT = {
  requestHeaders: ['Tallytree-Min-Position', 'Tallytree-Stale'],
  errors: ['overloaded', 'not-yet-readable', 'too-slow', 'too-costly'],
  responseHeaders: ['Tallytree-Position'],
} as const satisfies Described
const AS_OF = {
  ...PRESENT,
  requestHeaders: [...PRESENT.requestHeaders, 'Tallytree-As-Of'],
  errors: [...PRESENT.errors, 'bad-request'],
} as const satisfies Described
const LOG = { ...PRESENT, errors: ['overloaded', 'not-yet-readable'] } as const satisfies Described
const WRITE = {
  requestHeaders: [],
  errors: ['overloaded'],
  responseHeaders: ['Tallytree-Position'],
} as const satisfies Described

/** Any valid key. */
export const anyKey: Authorization<object> = { errors: [], authorize: () => ({}) }

const ofProject = <Project extends string | readonly string[]>(
  teams: Teams,
  find: (request: AnyRequest) => Project,
): Authorization<{ readonly project: Project }> => ({
  errors: ['not-found'],
  authorize: (request) => {
    const project = find(request)
    for (const one of listed(project)) authorizeRead(teams, request.principal, one)
    return { project }
  },
})

const listed = (project: string | readonly string[]): readonly string[] =>
  typeof project === 'string' ? [project] : [...new Set(project)]

/** Needs no key. */
export const openRoute = <Body = undefined, Query = undefined>({
  handle,
  ...spec
}: RouteSpec<Body, Query> & {
  readonly handle: (request: RouteRequest<Body, Query>) => Promise<RouteResponse>
}): AnyRoute => ({ ...described(spec, NO_POSITION, anyKey, handle), access: 'open' })

/** Reads what this process holds or looks up itself: it waits for no position. */
export const readDirectory = <Scope extends object, Body = undefined, Query = undefined>({
  authorization,
  handle,
  ...spec
}: Handling<Body, Query, Scope, RouteResponse> & Authorized<Scope>): AnyRoute =>
  described(spec, NO_POSITION, authorization, async (request) =>
    handle({ ...request, ...(await authorization.authorize(request)) }),
  )

/** Reads a project from the read models, as of now or an earlier position. */
export const readProject = <Body = undefined, Query = undefined>(
  { teams, reading }: ProjectReads,
  {
    project,
    handle,
    ...spec
  }: Handling<Body, Query, { readonly project: string }, PlannedRead> & NamesProject<Body, Query, string>,
): AnyRoute => {
  const authorization = ofProject(teams, project)
  const waitFor = (request: AnyRequest & { readonly project: string }) =>
    reading.waitForAsOf(request.project, request.headers)
  return described(spec, AS_OF, authorization, runRead(authorization.authorize, handle, waitFor))
}

/** Reads a project from the log as it is now. */
export const readProjectLog = <Body = undefined, Query = undefined>(
  parts: ProjectReads,
  {
    project,
    ...spec
  }: Handling<Body, Query, { readonly project: string }, PlannedRead> & NamesProject<Body, Query, string>,
): AnyRoute => readLog(parts, { ...spec, authorization: ofProject(parts.teams, project) })

/** The same for what is of no project. */
export const readLog = <Scope extends object, Body = undefined, Query = undefined>(
  { reading }: { readonly reading: Pick<Reading, 'logPosition'> },
  { authorization, handle, ...spec }: Handling<Body, Query, Scope, PlannedRead> & Authorized<Scope>,
): AnyRoute =>
  described(
    spec,
    LOG,
    authorization,
    runRead(authorization.authorize, handle, ({ headers }) => reading.logPosition(headers)),
  )

/** Reads the read models as they are now; `scope` names whose acknowledged writes they have to hold. */
export const readPresent = <Scope extends object, Body = undefined, Query = undefined>(
  { reading }: { readonly reading: Pick<Reading, 'waitForNow'> },
  {
    authorization,
    scope,
    handle,
    ...spec
  }: Handling<Body, Query, Scope, PlannedRead> &
    Authorized<Scope> & { readonly scope: (authorized: Scope) => string },
): AnyRoute =>
  described(
    spec,
    PRESENT,
    authorization,
    runRead(authorization.authorize, handle, (request) =>
      reading.waitForNow(scope(request), request.headers),
    ),
  )

type ProjectWrite<Body, Query, Project> = Handling<Body, Query, { readonly project: Project }, PlannedWrite> &
  NamesProject<Body, Query, Project>

/** Writes to a project, or several. A team that the administrator names for the first time is created. */
export const writeProject = <Project extends string | readonly string[], Body = undefined, Query = undefined>(
  parts: ProjectWrites,
  { project, handle, ...spec }: ProjectWrite<Body, Query, Project>,
): AnyRoute => writing(parts, spec, ofProject(parts.teams, project), handle, preparing(parts))

/** Changes or removes what a project has: it creates no team and is not throttled. */
export const changeProject = <
  Project extends string | readonly string[],
  Body = undefined,
  Query = undefined,
>(
  parts: ProjectWrites,
  { project, handle, ...spec }: ProjectWrite<Body, Query, Project>,
): AnyRoute => writing(parts, spec, ofProject(parts.teams, project), handle, () => Promise.resolve())

const writing = <Project extends string | readonly string[]>(
  parts: ProjectWrites,
  spec: AnySpec,
  authorization: Authorization<{ readonly project: Project }>,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the kind ties the request to the handler
  handle: (request: any) => Eventually<PlannedWrite>,
  prepare: (request: AnyRequest & { readonly project: Project }) => Promise<void>,
): AnyRoute =>
  described(
    spec,
    { ...WRITE, errors: [...WRITE.errors, 'too-large'] },
    authorization,
    runWrite(authorization.authorize, handle, prepare, ({ project }, position) =>
      acknowledged(parts, listed(project), position),
    ),
  )

export const preparing =
  ({ teams, throttle }: Pick<ProjectWrites, 'teams' | 'throttle'>) =>
  async ({
    project,
    principal,
    cause,
  }: Pick<RouteRequest, 'principal' | 'cause'> & {
    readonly project: string | readonly string[]
  }): Promise<void> => {
    for (const entity of new Set(listed(project).map(entityOf)))
      await teams.ensureTeam(principal, entity, cause)
    await throttle()
  }

/** The last position at which the writes of all projects can be read. */
export const acknowledged = (
  { reading }: Pick<ProjectWrites, 'reading'>,
  projects: readonly string[],
  position: Position | undefined,
): Position | undefined => {
  let last: Position | undefined
  for (const project of projects) {
    const own = reading.ackPosition(project, position)
    if (last === undefined || own > last) last = own
  }
  return last
}

/** Writes what is of no project, such as teams, members and webhooks. */
export const writeDirectory = <Scope extends object, Body = undefined, Query = undefined>({
  authorization,
  handle,
  ...spec
}: Handling<Body, Query, Scope, PlannedWrite> & Authorized<Scope>): AnyRoute =>
  described(
    spec,
    WRITE,
    authorization,
    runWrite(
      authorization.authorize,
      handle,
      () => Promise.resolve(),
      (_, position) => position,
    ),
  )
