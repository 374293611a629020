import type { UpstreamContent } from './content.js'

interface OfUpstream {
  readonly id: string
  readonly team: string | null
}

export interface CreateUpstream extends OfUpstream {
  readonly type: 'CreateUpstream'
  readonly content: UpstreamContent
}

export interface ChangeUpstream extends OfUpstream {
  readonly type: 'ChangeUpstream'
  /** Absent fields are unchanged. */
  readonly change: Partial<UpstreamContent>
}

export interface DeleteUpstream extends OfUpstream {
  readonly type: 'DeleteUpstream'
}

export type UpstreamCommand = CreateUpstream | ChangeUpstream | DeleteUpstream
