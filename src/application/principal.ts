import type { KeyScope } from '../domain/access/events.js'

/** The user of a request and the key it was sent with. */
export interface Principal {
  readonly userId: string
  readonly keyId: string
  /** What the key may be used for. */
  readonly scope: KeyScope
  /** Has the administrator key: may write to any project, which creates its team if needed. */
  readonly administrator: boolean
  /** The teams the user belongs to, sorted by name. */
  readonly teams: readonly string[]
  /** The teams in which the user is a team administrator. */
  readonly administers: readonly string[]
}

/** The entity of requests without one: the user's first team by name, or `default` for the administrator. */
export const defaultEntity = (principal: Principal): string =>
  principal.administrator ? 'default' : (principal.teams[0] ?? 'default')
