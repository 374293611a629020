import type { ObjectEvent } from './events.js'

export interface PublishObject {
  readonly type: 'PublishObject'
  readonly content: Omit<ObjectEvent['data'], 'version_index'>
}
