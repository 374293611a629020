import { readConditionsIn, presentConditionsIn } from './read-conditions.js'
import type { Services } from '../../application/services.js'
import { accessToProject, projectsIn, type Authorization } from './authorization.js'
import type { FailureKind } from '../../application/failure.js'
import { acknowledgeProjects, prepareProjects } from './write-steps.js'
import type {
  AnyRoute,
  RequestHeader,
  ResponseHeader,
  RouteRequest,
  RouteResponse,
  RouteSpec,
} from './route.js'
import {
  runRead,
  runWrite,
  withScope,
  type AnyRequest,
  type Eventually,
  type HasReader,
  type PlannedRead,
  type PlannedWrite,
} from './run.js'

/** A route with its handler, whose request includes the result of the authorisation and a reader. */
type RouteOf<Body, Query, Answer, Scope, Handled> = RouteSpec<Body, Query, Answer> & {
  readonly handle: (request: RouteRequest<Body, Query> & Scope & HasReader) => Eventually<Handled>
}

interface Authorized<Scope extends object> {
  readonly authorization: Authorization<Scope>
}

/** A route of a project. `project` gets it from the request, or several projects for a batch. */
type RouteOfProject<Body, Query, Answer, Project, Handled, Scope = unknown> = RouteOf<
  Body,
  Query,
  Answer,
  Scope & { readonly project: Project },
  Handled
> & { readonly project: (request: RouteRequest<NoInfer<Body>, NoInfer<Query>>) => Project }

/** What a handler passes on to functions that wait for the project and read it. */
export type ProjectRequest = Pick<RouteRequest, 'headers'> & HasReader & { readonly project: string }

interface Described {
  readonly requestHeaders: readonly RequestHeader[]
  readonly errors: readonly FailureKind[]
  readonly responseHeaders: readonly ResponseHeader[]
}

const described = (
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the kind ties body and query to the handler
  { requestHeaders = [], errors = [], ...spec }: RouteSpec<any, any, any>,
  kind: Described,
  refusals: readonly FailureKind[],
  handle: AnyRoute['handle'],
): AnyRoute => ({
  ...spec,
  requestHeaders: [...kind.requestHeaders, ...requestHeaders],
  errors: [...kind.errors, ...refusals, ...errors],
  responseHeaders: kind.responseHeaders,
  handle,
})

const NO_POSITION: Described = { requestHeaders: [], errors: [], responseHeaders: [] }

const PRESENT: Described = {
  requestHeaders: ['Tallytree-Min-Position', 'Tallytree-Stale'],
  errors: ['overloaded', 'not-yet-readable', 'too-slow', 'too-costly'],
  responseHeaders: ['Tallytree-Position'],
}

/** For writes that read the read models first. */
export const alsoReads: Pick<Described, 'requestHeaders' | 'errors'> = {
  requestHeaders: PRESENT.requestHeaders,
  errors: PRESENT.errors,
}

/** For writes that may be repeated under an `Idempotency-Key`. */
export const idempotent = { requestHeaders: ['Idempotency-Key'], errors: ['conflict'] } as const

const AS_OF: Described = {
  ...PRESENT,
  requestHeaders: [...PRESENT.requestHeaders, 'Tallytree-As-Of'],
  errors: [...PRESENT.errors, 'bad-request'],
}

/** For reads of another kind that also know earlier states. */
export const alsoAsOf = { requestHeaders: ['Tallytree-As-Of'], errors: ['bad-request'] } as const

const LOG: Described = { ...PRESENT, errors: ['overloaded', 'not-yet-readable'] }

const WRITE: Described = {
  requestHeaders: [],
  errors: ['overloaded'],
  responseHeaders: ['Tallytree-Position'],
}

type UnscopedRoute<Body, Query, Answer> = RouteSpec<Body, Query, Answer> & {
  readonly handle: (request: RouteRequest<Body, Query>) => Promise<RouteResponse<NoInfer<Answer>>>
}

/** A route without authentication. */
export const openRoute = <Body = undefined, Query = undefined, Answer = never>({
  handle,
  ...spec
}: UnscopedRoute<Body, Query, Answer>): AnyRoute => ({
  ...described(spec, NO_POSITION, [], handle),
  access: 'open',
})

/** Reads state that does not come from the read models, without waiting for a position. */
export const readDirectory = <Scope extends object, Body = undefined, Query = undefined, Answer = never>({
  authorization,
  handle,
  ...spec
}: RouteOf<Body, Query, Answer, Scope, RouteResponse<NoInfer<Answer>>> & Authorized<Scope>): AnyRoute =>
  described(spec, NO_POSITION, authorization.errors, async (request) =>
    handle(withScope(request, await authorization.authorize(request))),
  )

/** Reads a project from the read models, as of now or an earlier position. */
export const readProject = <Body = undefined, Query = undefined, Answer = never>(
  { access, reading }: Pick<Services, 'access' | 'reading'>,
  {
    project: projectOf,
    handle,
    ...spec
  }: RouteOfProject<Body, Query, Answer, string, PlannedRead<NoInfer<Answer>>>,
): AnyRoute => {
  const authorization = accessToProject(access, projectOf)
  const waitFor = ({ project, headers }: AnyRequest & { readonly project: string }) =>
    reading.waitForAsOf(project, readConditionsIn(headers))
  return described(spec, AS_OF, authorization.errors, runRead(authorization, handle, waitFor))
}

/** Reads several projects: the handler waits for each and omits projects without access. */
export const readProjects = <Body = undefined, Query = undefined, Answer = never>({
  handle,
  ...spec
}: RouteOf<Body, Query, Answer, unknown, RouteResponse<NoInfer<Answer>>>): AnyRoute =>
  described(spec, AS_OF, ['not-found'], async (request) => handle(withScope(request, {})))

/** Reads a project from the log, at its current head. */
export const readProjectLog = <Body = undefined, Query = undefined, Answer = never>(
  services: Pick<Services, 'access' | 'reading'>,
  { project, ...spec }: RouteOfProject<Body, Query, Answer, string, PlannedRead<NoInfer<Answer>>>,
): AnyRoute => readLog(services, { ...spec, authorization: accessToProject(services.access, project) })

/** Reads the log at its current head. */
export const readLog = <Scope extends object, Body = undefined, Query = undefined, Answer = never>(
  { reading }: Pick<Services, 'reading'>,
  {
    authorization,
    handle,
    ...spec
  }: RouteOf<Body, Query, Answer, Scope, PlannedRead<NoInfer<Answer>>> & Authorized<Scope>,
): AnyRoute => {
  const waitFor = ({ headers }: AnyRequest) => reading.logPosition(readConditionsIn(headers))
  return described(spec, LOG, authorization.errors, runRead(authorization, handle, waitFor))
}

/** Reads the current read models. `scope` is the name under which the writes to wait for were acknowledged. */
export const readPresent = <Scope extends object, Body = undefined, Query = undefined, Answer = never>(
  { reading }: Pick<Services, 'reading'>,
  {
    authorization,
    scope,
    handle,
    ...spec
  }: RouteOf<Body, Query, Answer, Scope, PlannedRead<NoInfer<Answer>>> &
    Authorized<Scope> & { readonly scope: (authorized: Scope) => string },
): AnyRoute => {
  const waitFor = (request: AnyRequest & Scope) =>
    reading.waitForNow(scope(request), presentConditionsIn(request.headers))
  return described(spec, PRESENT, authorization.errors, runRead(authorization, handle, waitFor))
}

/** Writes to one or more projects. Creates the team when the administrator first uses its name. */
export const writeProject = <
  Project extends string | readonly string[],
  Body = undefined,
  Query = undefined,
  Answer = never,
>(
  services: Pick<Services, 'access' | 'reading' | 'throttle'>,
  { project, ...spec }: RouteOfProject<Body, Query, Answer, Project, PlannedWrite<NoInfer<Answer>>>,
): AnyRoute =>
  writeAuthorized(services, { ...spec, authorization: accessToProject(services.access, project) })

/** As `writeProject`, where the authorisation itself finds the project. */
export const writeAuthorized = <
  Scope extends { readonly project: string | readonly string[] },
  Body = undefined,
  Query = undefined,
  Answer = never,
>(
  services: Pick<Services, 'access' | 'reading' | 'throttle'>,
  {
    authorization,
    handle,
    ...spec
  }: RouteOf<Body, Query, Answer, Scope, PlannedWrite<NoInfer<Answer>>> & Authorized<Scope>,
): AnyRoute =>
  described(
    spec,
    WRITE,
    authorization.errors,
    runWrite(authorization, handle, {
      prepare: ({ project, principal, cause }) =>
        prepareProjects(services, projectsIn(project), principal, cause),
      acknowledge: ({ project }, { position, readableAt }) =>
        acknowledgeProjects(services, projectsIn(project), position ?? readableAt),
    }),
  )

/** Changes or deletes something of a project, without creating its team and without throttling. */
export const changeProject = <Body = undefined, Query = undefined, Answer = never>(
  services: Pick<Services, 'access' | 'reading'>,
  { project, handle, ...spec }: RouteOfProject<Body, Query, Answer, string, PlannedWrite<NoInfer<Answer>>>,
): AnyRoute =>
  changeAuthorized(services, { ...spec, handle, authorization: accessToProject(services.access, project) })

/** As `changeProject`, where the authorisation itself finds the project. */
export const changeAuthorized = <
  Scope extends { readonly project: string },
  Body = undefined,
  Query = undefined,
  Answer = never,
>(
  { reading }: Pick<Services, 'reading'>,
  {
    authorization,
    handle,
    ...spec
  }: RouteOf<Body, Query, Answer, Scope, PlannedWrite<NoInfer<Answer>>> & Authorized<Scope>,
): AnyRoute =>
  described(
    spec,
    WRITE,
    authorization.errors,
    runWrite(authorization, handle, {
      prepare: () => Promise.resolve(),
      acknowledge: ({ project }, { position, readableAt }) =>
        reading.ackPosition(project, position ?? readableAt),
    }),
  )

/** Writes outside of projects, such as to teams, members and webhooks. */
export const writeDirectory = <Scope extends object, Body = undefined, Query = undefined, Answer = never>({
  authorization,
  handle,
  ...spec
}: RouteOf<Body, Query, Answer, Scope, PlannedWrite<NoInfer<Answer>>> & Authorized<Scope>): AnyRoute =>
  described(
    spec,
    WRITE,
    authorization.errors,
    runWrite(authorization, handle, {
      prepare: () => Promise.resolve(),
      acknowledge: (_, { position }) => position,
    }),
  )
