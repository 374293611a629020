import { presentConditionsIn } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { changeCall, deletingCalls } from '../../application/calls/change-calls.js'
import { Failure } from '../../application/failure.js'
import { displayName } from '../../domain/calls/content.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { int64, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id, projectId } from '../../kernel/ids.js'
import { inBody } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, changeProject, writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'

type CallServices = Pick<Services, 'eventStore' | 'ids' | 'access' | 'reading' | 'throttle'>

const callUpdate = closed('CallUpdateRequest', {
  required: { project_id: projectId, call_id: id },
  optional: { display_name: nullable(displayName), wb_user_id: nullable(string) },
})

const renameRoute = (services: CallServices): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/call/update',
    summary: "Set a call's display name; an empty name removes it.",
    body: callUpdate,
    errors: ['conflict'],
    response: emptyResponse,
    project: inBody,
    handle: ({ body: { project_id, call_id: id, display_name: name } }) => {
      if (name === null)
        throw new Failure(
          'bad-request',
          'Nothing to update: display_name is required; an empty one removes the name.',
        )
      const display_name = name === '' ? null : name
      return writing(changeCall(services, { type: 'RenameCall', project_id, id, display_name }))
    },
  })

const callsDelete = closed('CallsDeleteRequest', {
  required: { project_id: projectId, call_ids: arrayOf(string) },
  optional: { wb_user_id: nullable(string) },
})

const MAX_IDS = 1000

const deleteRoute = (services: CallServices): AnyRoute =>
  changeProject(services, {
    method: 'post',
    path: '/calls/delete',
    summary: 'Delete calls with all their descendants.',
    body: callsDelete,
    requestHeaders: ['Tallytree-Min-Position'],
    errors: alsoReads.errors,
    response: open('CallsDeleteResponse', { required: { num_deleted: int64 } }),
    project: inBody,
    handle: async ({ body: { project_id, call_ids }, reader, headers }) => {
      if (call_ids.length > MAX_IDS)
        throw new Failure('too-large', `Request too large: at most ${MAX_IDS} call_ids per request.`)
      const conditions = presentConditionsIn(headers)
      const deleting = await deletingCalls(services)(reader, project_id, call_ids, conditions)
      return async (cause) => {
        const { deleted, position } = await deleting(cause)
        return { body: { num_deleted: deleted }, position }
      }
    },
  })

export const renameAndDeleteRoutes = (services: CallServices): readonly AnyRoute[] => [
  renameRoute(services),
  deleteRoute(services),
]
