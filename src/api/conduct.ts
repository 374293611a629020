import type { FailureKind } from './failure.js'

/** Request headers with a meaning of their own. */
export type AskedHeader =
  | 'Tallytree-Min-Position'
  | 'Tallytree-Stale'
  | 'Tallytree-As-Of'
  | 'Idempotency-Key'
  | 'Vendor-Project'
  | 'OpenAI-Project'
  | 'Tallytree-Parent-Call'
  | 'Tallytree-Trace'
  | 'traceparent'
  | 'Tallytree-Record'

/** Headers that an answer may carry beside those of every answer. */
export type AnswerHeader =
  | 'Retry-After'
  | 'Tallytree-Position'
  | 'Tallytree-Refused'
  | 'Tallytree-Truncated'
  | 'Tallytree-Unfinished-Descendants'
  | 'Tallytree-Unpriced-Models'

/** What routes of one kind have in common, for the API description. */
interface Conduct {
  readonly takes: readonly AskedHeader[]
  readonly fails: readonly FailureKind[]
}

/** Reads of what projections hold now. */
export const readsPresent = {
  takes: ['Tallytree-Min-Position', 'Tallytree-Stale'],
  fails: ['not-found', 'invalid', 'overloaded', 'not-yet-readable', 'too-slow', 'too-costly'],
} as const satisfies Conduct

/** Reads of what projections hold of a project, now or at an earlier position. */
export const readsProject = {
  takes: [...readsPresent.takes, 'Tallytree-As-Of'],
  fails: [...readsPresent.fails, 'bad-request'],
} as const satisfies Conduct

/** Reads of the log itself, which speak of the present. */
export const readsLog = {
  takes: readsPresent.takes,
  fails: ['not-found', 'invalid', 'overloaded', 'not-yet-readable'],
} as const satisfies Conduct

/** Writes to a project. */
export const writesProject = {
  takes: [],
  fails: ['not-found', 'too-large', 'overloaded'],
} as const satisfies Conduct

/** Writes whose digest the client may have worked out itself, or that say something else under an id of the client's. */
export const writesOnce = {
  takes: [],
  fails: [...writesProject.fails, 'conflict'],
} as const satisfies Conduct

/** Reads that name fields, of which some may not be asked for. */
export const readsFields = {
  takes: readsProject.takes,
  fails: [...readsProject.fails, 'forbidden'],
} as const satisfies Conduct

/** Reads and writes of teams, members and keys, which every process holds in memory. */
export const readsDirectory = { takes: [], fails: ['invalid'] } as const satisfies Conduct
export const writesDirectory = { takes: [], fails: ['overloaded'] } as const satisfies Conduct
