import type { NamedKind } from './events.js'

/** Claims a name for a team resource. */
export interface TakeName {
  readonly type: 'TakeName'
  readonly team: string
  readonly kind: NamedKind
  readonly name: string
  readonly id: string
  /** A previous owner to take the name from, since it was never created or was renamed. */
  readonly from: string | null
}

/** Does nothing if the name belongs to another resource by now. */
export interface ReleaseName {
  readonly type: 'ReleaseName'
  readonly team: string
  readonly kind: NamedKind
  readonly name: string
  readonly id: string
}

export type NameCommand = TakeName | ReleaseName
