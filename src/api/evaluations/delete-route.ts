import type { Services } from '../../application/services.js'
import { open } from '../../kernel/codec/struct.js'
import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import { inPath } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { alsoReads, changeProject } from '../server/route-kinds.js'
import { deletingCalls } from '../../application/calls/change-calls.js'
import { presentConditionsIn } from '../server/read-conditions.js'
import { deleted, listInQuery, requireFew } from './codecs.js'
import { callNow } from '../../application/evaluations/parsed-call.js'
import { inV2 } from './found-calls.js'

interface Deletable {
  readonly collection: string
  /** The parameter of the query that holds the ids. */
  readonly parameter: string
  readonly summary: string
  /** The call to delete with all its descendants; undefined for a call that is not of this collection. */
  readonly rootOf: (call: EvaluationCall, projectId: string) => Promise<string | undefined>
}

/** Deletes members of the collection by the ids in the query, and ignores unknown ids. */
export const deleteRoute = (
  services: Pick<Services, 'eventStore' | 'blobs' | 'ids' | 'access' | 'reading'>,
  { collection, parameter, summary, rootOf }: Deletable,
): AnyRoute =>
  changeProject(services, {
    method: 'delete',
    path: inV2(collection),
    summary,
    query: open('EvaluationCallsToDelete', { required: { [parameter]: listInQuery } }),
    requestHeaders: ['Tallytree-Min-Position'],
    errors: alsoReads.errors,
    response: deleted,
    project: inPath,
    handle: async ({ query, project, reader, headers }) => {
      const ids = [...new Set(query[parameter])]
      requireFew(ids, ['query', parameter])
      const roots: string[] = []
      for (const id of ids) {
        const call = await callNow(services, project, id)
        const root = call === undefined ? undefined : await rootOf(call, project)
        if (root !== undefined) roots.push(root)
      }
      const deleting = await deletingCalls(services)(reader, project, roots, presentConditionsIn(headers))
      return async (cause) => {
        const { position } = await deleting(cause)
        return { body: { num_deleted: roots.length }, position }
      }
    },
  })
