import type * as t from 'io-ts'
import { id, projectId } from '../../kernel/ids.js'
import { open } from '../../kernel/codec/struct.js'
import { nothing, type Decider, type EventOf } from '../../kernel/decider.js'
import { collectionName } from './place.js'

const clientIdGiven = open('ClientIdGiven', {
  says: 'A client gave an artifact an id of its own, by which its other artifacts refer to it.',
  required: { project_id: projectId, collection: collectionName, artifact_id: id, client_id: id },
})

export const clientIdEvents = { ClientIdGiven: clientIdGiven }

export type ClientIdGiven = t.TypeOf<typeof clientIdGiven>

export const clientIdStream = (digest: string): string => `artifact_client_id-${digest}`

/** The artifacts of a client's id, in the order of their making: a repeated request makes another draft. */
export const clientIdDecider: Decider<
  readonly ClientIdGiven[],
  { readonly type: 'GiveClientId'; readonly given: ClientIdGiven },
  EventOf<typeof clientIdEvents>
> = {
  initialState: () => [],
  evolve: (state, { type, data }) => ((type as string) === 'ClientIdGiven' ? [...state, data] : state),
  decide: (state, { given }) =>
    state.some(
      ({ artifact_id, project_id }) => artifact_id === given.artifact_id && project_id === given.project_id,
    )
      ? nothing
      : { events: [{ type: 'ClientIdGiven', data: given }] },
}
