import { presentConditionsIn } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { callDecider, callStream } from '../../domain/calls/call.js'
import { displayName } from '../../domain/calls/content.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { int64, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { withDescendants } from '../../projections/usage/queries.js'
import { execute } from '../../kernel/execute.js'
import { inChunks } from '../../kernel/in-chunks.js'
import { id, projectId } from '../../kernel/ids.js'
import type { Cause } from '../../kernel/event.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { inBody } from '../server/authorization.js'
import { Failure } from '../../application/failure.js'
import { emptyResponse } from '../server/empty-response.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { alsoReads, changeProject, writeProject } from '../server/route-kinds.js'
import { writing, type HasReader } from '../server/run.js'
import { later } from '../../kernel/later.js'

const callUpdate = closed('CallUpdateRequest', {
  required: { project_id: projectId, call_id: id },
  optional: { display_name: nullable(displayName), wb_user_id: nullable(string) },
})

const callsDelete = closed('CallsDeleteRequest', {
  required: { project_id: projectId, call_ids: arrayOf(string) },
  optional: { wb_user_id: nullable(string) },
})

const MAX_IDS = 1000

export const renameAndDeleteRoutes = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access' | 'reading' | 'throttle'>,
): readonly AnyRoute[] => {
  return [
    writeProject(services, {
      method: 'post',
      path: '/call/update',
      summary: "Set a call's display name; an empty name removes it.",
      body: callUpdate,
      errors: ['conflict'],
      response: emptyResponse,
      project: inBody,
      handle: ({ body: { project_id, call_id: id, display_name } }) => {
        if (display_name === null)
          throw new Failure(
            'bad-request',
            'Nothing to update: display_name is required; an empty one removes the name.',
          )
        const name = display_name === '' ? null : display_name
        const command = { type: 'RenameCall', project_id, id, display_name: name } as const
        const stream = callStream(project_id, id)
        return writing((cause) => execute(services)(callDecider, stream, [command], cause))
      },
    }),
    changeProject(services, {
      method: 'post',
      path: '/calls/delete',
      summary: 'Delete calls with all their descendants.',
      body: callsDelete,
      requestHeaders: ['Tallytree-Min-Position'],
      errors: alsoReads.errors,
      response: open('CallsDeleteResponse', { required: { num_deleted: int64 } }),
      project: inBody,
      handle: async (request) => {
        const { project_id, call_ids } = request.body
        if (call_ids.length > MAX_IDS)
          throw new Failure('too-large', `Request too large: at most ${MAX_IDS} call_ids per request.`)
        const deleting = await deletingCalls(services)(project_id, call_ids, request)
        return async (cause) => {
          const { deleted, position } = await deleting(cause)
          return { body: { num_deleted: deleted }, position }
        }
      },
    }),
  ]
}

/** Deletes this many calls in parallel. */
const AT_ONCE = 500

/** Finds the calls with all their descendants; returns a function that deletes them. */
export const deletingCalls =
  (services: Pick<Services, 'eventStore' | 'ids' | 'reading'>) =>
  async (
    project_id: string,
    callIds: readonly string[],
    { headers, reader }: Pick<RouteRequest, 'headers'> & HasReader,
  ) => {
    // Ignores `Tallytree-Stale`, which would leave recent descendants undeleted.
    const seen = await services.reading.waitForNow(project_id, {
      ...presentConditionsIn(headers),
      stale: false,
    })
    const possible = callIds.filter(id.is)
    const below = possible.length === 0 ? [] : await withDescendants(reader)(project_id, possible, seen)
    const ids = [...new Set([...possible, ...below])]
    return async (cause: Cause): Promise<{ deleted: number; position: Position | undefined }> => {
      const executed = await inChunks(ids, AT_ONCE, (id) => {
        const command = { type: 'DeleteCall', project_id, id } as const
        return execute(services)(callDecider, callStream(project_id, id), [command], cause)
      })
      return {
        deleted: executed.filter(({ position }) => position !== undefined).length,
        position: executed.map(({ readableAt }) => readableAt).reduce(later, undefined),
      }
    }
  }
