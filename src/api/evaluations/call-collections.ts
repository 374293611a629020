import { deletingCalls } from '../../application/calls/change-calls.js'
import { type RootOf, rootsOf, runNow } from '../../application/evaluations/logged-runs.js'
import { callPages } from '../../application/evaluations/parsed-call.js'
import { rowCallsOf } from '../../application/evaluations/read-rows.js'
import type { Services } from '../../application/services.js'
import type { RowCalls } from '../../domain/evaluations/rows-of-calls.js'
import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import type { AnyCodec } from '../../kernel/codec/codec.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { inPath } from '../server/authorization.js'
import { JSON_LINES, linesOf, streamedLines, type Texts } from '../server/json-pages.js'
import { presentConditionsIn } from '../server/read-conditions.js'
import { alsoReads, changeProject, readProject } from '../server/route-kinds.js'
import type { AnyRoute } from '../server/route.js'
import { deleted, listInQuery, page, requireFew } from './codecs.js'

/** Where SDKs look for evaluations, their runs and what belongs to them. */
export const inV2 = (path: string): string => `/v2/:entity/:project/${path}`

export type EvaluationRouteServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

interface Listed {
  readonly summary: string
  readonly line: AnyCodec
  /** The member of `attributes.weave` that marks calls of this collection outside of the runs of SDKs. */
  readonly mark: 'prediction' | 'score'
  readonly inRow: (calls: RowCalls) => readonly JsonObject[]
  readonly alone: (call: EvaluationCall) => JsonObject
}

/** Lists what is in the rows of a run or, without a run, the calls with a mark. */
export const listRoute = (
  services: Pick<Services, 'eventStore' | 'blobs' | 'access' | 'reading'>,
  listed: Listed,
): AnyRoute =>
  readProject(services, {
    method: 'get',
    path: inV2(`${listed.mark}s`),
    summary: listed.summary,
    query: open('EvaluationCallsQuery', { optional: { evaluation_run_id: withDefault(id, null), ...page } }),
    response: { schema: linesOf('One per line.', listed.line.schema), type: JSON_LINES },
    project: inPath,
    handle: async ({ query, project: projectId, reader }) => {
      const { evaluation_run_id: runId, limit, offset } = query
      if (runId !== null) await runNow(services, projectId, runId)
      return async (position) => {
        const pages =
          runId === null
            ? marked(reader, projectId, listed, position, { limit, offset })
            : part(inRows(reader, projectId, runId, listed, position), offset ?? 0, limit ?? Infinity)
        return streamedLines(pages)
      }
    },
  })

async function* marked(
  reader: ClickHouseReader,
  projectId: string,
  { mark, alone }: Listed,
  position: Position,
  range: { readonly limit: number | null; readonly offset: number | null },
): AsyncGenerator<readonly string[]> {
  const operation = { $eq: [{ $getField: `attributes.weave.${mark}` }, { $literal: 'true' }] } as const
  for await (const page of callPages(reader, { projectId, operation, position, ...range }))
    yield page.map((call) => jsonText(alone(call)))
}

async function* inRows(
  reader: ClickHouseReader,
  projectId: string,
  runId: string,
  { inRow }: Listed,
  position: Position,
): AsyncGenerator<readonly string[]> {
  for await (const rows of rowCallsOf(reader)(projectId, runId, position))
    yield rows.flatMap(inRow).map(jsonText)
}

/** Some of the items of pages. */
async function* part(pages: Texts, offset: number, limit: number): AsyncGenerator<readonly string[]> {
  let passed = 0
  if (limit > 0)
    for await (const items of pages) {
      const from = Math.max(0, offset - passed)
      yield items.slice(from, Math.max(from, offset + limit - passed))
      passed += items.length
      if (passed >= offset + limit) return
    }
}

/** Deletes members of a collection by the ids in the query, and ignores unknown ids. */
export const deleteRoute = (
  services: EvaluationRouteServices,
  member: 'evaluation_run' | 'prediction' | 'score',
  summary: string,
  rootOf: RootOf,
): AnyRoute => {
  const parameter = `${member}_ids`
  return changeProject(services, {
    method: 'delete',
    path: inV2(`${member}s`),
    summary,
    query: open('EvaluationCallsToDelete', { required: { [parameter]: listInQuery } }),
    requestHeaders: ['Tallytree-Min-Position'],
    errors: alsoReads.errors,
    response: deleted,
    project: inPath,
    handle: async ({ query, project, reader, headers }) => {
      const ids = [...new Set(query[parameter])]
      requireFew(ids, ['query', parameter])
      const roots = await rootsOf(services, project, ids, rootOf)
      const deleting = await deletingCalls(services)(reader, project, roots, presentConditionsIn(headers))
      return async (cause) => {
        const { position } = await deleting(cause)
        return { body: { num_deleted: roots.length }, position }
      }
    },
  })
}
