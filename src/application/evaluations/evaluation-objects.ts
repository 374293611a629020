import { OP_WITHOUT_CODE } from '../../domain/evaluations/ops.js'
import { ROW_OP, RUN_OP, SUMMARY_OP } from '../../domain/evaluations/run-calls.js'
import { weaveDigest } from '../../domain/objects/weave-digest.js'
import { tableRef, versionRef } from '../../domain/refs/ref.js'
import type { Cause } from '../../kernel/event.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { Failure } from '../failure.js'
import { storedFile, storeFile } from '../files/files.js'
import { publishObject } from '../objects/publish.js'
import { digestedRows, publishTable } from '../tables/publish-table.js'

/** Makes the value of an object from what a client sent, and first stores what it refers to. */
type ValueOf<Content> = (content: Content, project: string, id: string, cause: Cause) => Promise<JsonObject>

interface Named {
  readonly name: string
  readonly description: string | null
}

/** Source code is a file of the project, as the SDKs store it. */
const storeSource =
  (ports: Ports) =>
  async (project_id: string, code: string, cause: Cause): Promise<string> => {
    const bytes = Buffer.from(code)
    const blob = await ports.blobs.put(bytes)
    const digest = weaveDigest(blob)
    const file = { project_id, digest, blob, size: bytes.length, wb_user_id: cause.actor }
    await storeFile(ports, { type: 'StoreFile', file })(cause)
    return digest
  }

/** The first of the files that an object names; empty where it names none. */
export const sourceIn =
  (ports: Pick<Ports, 'eventStore' | 'blobs'>) =>
  async (project: string, { files }: JsonObject, position: Position): Promise<string> => {
    const digest = isJsonObject(files) ? Object.values(files)[0] : undefined
    if (typeof digest !== 'string') return ''
    const file = await storedFile(ports, project, digest, position).catch((error: unknown) => {
      if (error instanceof Failure) return undefined
      throw error
    })
    const content = file === undefined ? undefined : await ports.blobs.get(file.blob)
    return content === undefined ? '' : Buffer.from(content).toString('utf8')
  }

export const opValue =
  (ports: Ports): ValueOf<{ readonly source_code: string }> =>
  async ({ source_code }, project, _id, cause) => ({
    ...OP_WITHOUT_CODE,
    files: { 'obj.py': await storeSource(ports)(project, source_code, cause) },
  })

const publishOp =
  (ports: Ports) => async (project: string, object_id: string, val: JsonObject, cause: Cause) => {
    const { digest } = await publishObject(ports)(project, object_id, val, cause)
    return versionRef(project, 'op', object_id, digest)
  }

export const datasetValue =
  (ports: Ports): ValueOf<Named & { readonly rows: readonly JsonObject[] }> =>
  async ({ name, description, rows }, project, _id, cause) => {
    const { digests: rowDigests, contents } = await digestedRows(ports.sha256, rows)
    const table = { projectId: project, userId: cause.actor, rowDigests, contents: contents.values() }
    const { digest } = await publishTable(ports)(table, cause)
    return { ...ofClass('Dataset', name, description), rows: tableRef(project, digest) }
  }

const MAX_STEM = 120

export const scorerValue =
  (ports: Ports): ValueOf<Named & { readonly op_source_code: string }> =>
  async ({ name, description, op_source_code: source_code }, project, id, cause) => {
    const op = await opValue(ports)({ source_code }, project, id, cause)
    const score = await publishOp(ports)(project, `${id.slice(0, MAX_STEM)}.score`, op, cause)
    return { ...ofClass('Scorer', name, description), column_map: null, score }
  }

interface EvaluationContent extends Named {
  readonly dataset: string
  readonly scorers: readonly string[]
  readonly trials: number
  readonly evaluation_name: string | null
  readonly eval_attributes: JsonObject | null
}

export const evaluationValue =
  (ports: Ports): ValueOf<EvaluationContent> =>
  async (content, project, _id, cause) => {
    const op = (name: string) => publishOp(ports)(project, name, OP_WITHOUT_CODE, cause)
    return {
      ...ofClass('Evaluation', content.name, content.description),
      dataset: content.dataset,
      scorers: [...content.scorers],
      trials: content.trials,
      evaluation_name: content.evaluation_name,
      metadata: content.eval_attributes,
      evaluate: await op(RUN_OP),
      predict_and_score: await op(ROW_OP),
      summarize: await op(SUMMARY_OP),
    }
  }

export const modelValue =
  (ports: Ports): ValueOf<Named & { readonly source_code: string; readonly attributes: JsonObject | null }> =>
  async ({ name, description, source_code, attributes }, project, _id, cause) => ({
    ...ofClass('Model', name, description),
    files: { 'model.py': await storeSource(ports)(project, source_code, cause) },
    attributes,
  })

const ofClass = (name: string, title: string, description: string | null): JsonObject => ({
  _type: name,
  _class_name: name,
  _bases: ['Object', 'BaseModel'],
  name: title,
  description,
})
