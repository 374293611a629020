import { open } from '../codec/struct.js'
import type { EventOf } from '../decider.js'
import { id } from '../ids.js'
import { owner, upstreamFields } from './content.js'

const upstreamCreated = open('UpstreamCreated', {
  says: 'Models are served by this upstream, for a team or for all. Secrets are named, never told.',
  required: { id, ...upstreamFields.required },
  optional: { team: owner, ...upstreamFields.optional },
})

const upstreamChanged = open('UpstreamChanged', {
  says: 'An upstream is this from here on, whatever it was before.',
  required: { id, ...upstreamFields.required },
  optional: { team: owner, ...upstreamFields.optional },
})

const upstreamDeleted = open('UpstreamDeleted', {
  says: 'An upstream serves nothing any more.',
  required: { id },
  optional: { team: owner },
})

export const upstreamEvents = {
  UpstreamCreated: upstreamCreated,
  UpstreamChanged: upstreamChanged,
  UpstreamDeleted: upstreamDeleted,
}

export type UpstreamEvent = EventOf<typeof upstreamEvents>

/** They are few, and which ids are taken is decided in one place. */
export const UPSTREAMS_STREAM = 'upstreams'
