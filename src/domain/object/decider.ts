import { nothing, type Decider } from '../decider.js'
import type { PublishObject } from './commands.js'
import type { ObjectEvent } from './events.js'

interface ObjectState {
  /** Digests in the order of their versions. */
  readonly versions: readonly string[]
}

export const objectDecider: Decider<ObjectState, PublishObject, ObjectEvent> = {
  initialState: { versions: [] },

  evolve: ({ versions }, { data }) => ({ versions: [...versions, data.digest] }),

  decide: ({ versions }, { content }) =>
    versions.includes(content.digest)
      ? nothing
      : { events: [{ type: 'ObjectPublished', data: { ...content, version_index: versions.length } }] },
}
