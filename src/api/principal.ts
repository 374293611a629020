/** Who a request comes from: the user and the key it carries. */
export interface Principal {
  readonly userId: string
  readonly keyId: string
  /** Holds the administrator key: may write any project, and a team it names comes into being. */
  readonly administrator: boolean
  /** The teams the user belongs to, sorted by name. */
  readonly teams: readonly string[]
  /** Those of them whose team administrator the user is. */
  readonly administers: readonly string[]
}

/** The entity of requests that name none: the first team by name, for the administrator `default`. */
export const defaultEntity = (principal: Principal): string =>
  principal.administrator ? 'default' : (principal.teams[0] ?? 'default')
