import { open } from '../../../kernel/codec/struct.js'
import type { EventOf } from '../../../kernel/decider.js'
import { id } from '../../../kernel/ids.js'
import { owner, upstreamFields } from './content.js'

const upstreamCreated = open('UpstreamCreated', {
  says: 'An upstream was created for one team or for all teams. It contains names of secrets, never their values.',
  required: { id, ...upstreamFields.required },
  optional: { team: owner, ...upstreamFields.optional },
})

const upstreamChanged = open('UpstreamChanged', {
  says: 'An upstream was updated. The new content replaces the old.',
  required: { id, ...upstreamFields.required },
  optional: { team: owner, ...upstreamFields.optional },
})

const upstreamDeleted = open('UpstreamDeleted', {
  says: 'An upstream was deleted.',
  required: { id },
  optional: { team: owner },
})

export const upstreamEvents = {
  UpstreamCreated: upstreamCreated,
  UpstreamChanged: upstreamChanged,
  UpstreamDeleted: upstreamDeleted,
}

export type UpstreamEvent = EventOf<typeof upstreamEvents>

/** One stream, since there are few and ids must be unique. */
export const UPSTREAMS_STREAM = 'upstreams'
