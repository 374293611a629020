import type { FailureKind } from './failure.js'
import type { RequestHeader } from './route.js'

/** What routes of one kind have in common, for the API description. */
interface Conduct {
  readonly requestHeaders: readonly RequestHeader[]
  readonly errors: readonly FailureKind[]
}

/** Reads of what projections hold now. */
export const readsPresent = {
  requestHeaders: ['Tallytree-Min-Position', 'Tallytree-Stale'],
  errors: ['not-found', 'invalid', 'overloaded', 'not-yet-readable', 'too-slow', 'too-costly'],
} as const satisfies Conduct

/** Reads of what projections hold of a project, now or at an earlier position. */
export const readsProject = {
  requestHeaders: [...readsPresent.requestHeaders, 'Tallytree-As-Of'],
  errors: [...readsPresent.errors, 'bad-request'],
} as const satisfies Conduct

/** Reads of the log itself, which speak of the present. */
export const readsLog = {
  requestHeaders: readsPresent.requestHeaders,
  errors: ['not-found', 'invalid', 'overloaded', 'not-yet-readable'],
} as const satisfies Conduct

/** Writes to a project. */
export const writesProject = {
  requestHeaders: [],
  errors: ['not-found', 'too-large', 'overloaded'],
} as const satisfies Conduct

/** Writes whose digest the client may have worked out itself, or that say something else under an id of the client's. */
export const writesOnce = {
  requestHeaders: [],
  errors: [...writesProject.errors, 'conflict'],
} as const satisfies Conduct

/** Reads that name fields, of which some may not be asked for. */
export const readsFields = {
  requestHeaders: readsProject.requestHeaders,
  errors: [...readsProject.errors, 'forbidden'],
} as const satisfies Conduct

/** Reads and writes of teams, members and keys, which every process holds in memory. */
export const readsDirectory = { requestHeaders: [], errors: ['invalid'] } as const satisfies Conduct
export const writesDirectory = { requestHeaders: [], errors: ['overloaded'] } as const satisfies Conduct
