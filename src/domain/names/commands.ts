import type { NamedKind } from './events.js'

/** Gives a name to a thing of a team. */
export interface TakeName {
  readonly type: 'TakeName'
  readonly team: string
  readonly kind: NamedKind
  readonly name: string
  readonly id: string
  /** The thing that the name may be taken from, because it was never made or goes by another name. */
  readonly from: string | null
}

/** Does nothing where the name stands for another thing by now. */
export interface ReleaseName {
  readonly type: 'ReleaseName'
  readonly team: string
  readonly kind: NamedKind
  readonly name: string
  readonly id: string
}

export type NameCommand = TakeName | ReleaseName
