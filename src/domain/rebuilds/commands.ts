import type { RebuildRequested } from './events.js'

export interface RequestRebuild {
  readonly type: 'RequestRebuild'
  readonly request: RebuildRequested
}
