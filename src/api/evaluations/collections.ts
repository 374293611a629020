import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import { arrayOf, nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, integerBetween, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { Cause } from '../../kernel/event.js'
import { OP_WITHOUT_CODE } from '../../domain/evaluations/ops.js'
import { ROW_OP, RUN_OP, SUMMARY_OP } from '../../domain/evaluations/run-calls.js'
import { fileDecider, fileStream } from '../../domain/files/file.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { tableRef, versionRef } from '../../domain/refs/ref.js'
import { weaveDigest } from '../../domain/objects/weave-digest.js'
import { execute } from '../../kernel/execute.js'
import { Failure } from '../../application/failure.js'
import { storedFile } from '../files/content.js'
import { publishObject } from '../../application/objects/publish.js'
import type { AnyRoute } from '../server/route.js'
import { digestedRows, publishTable } from '../../application/tables/publish-table.js'
import { objectOrOpRef, objectRef } from './codecs.js'
import { collectionRoutes } from './objects.js'
import { textOf } from './runs.js'

const created = { digest: string, object_id: string, version_index: int64 }
const shown = { ...created, created_at: instant }
const described = { name: string }
const description = { description: nullable(string) }

const OBJECT = { _bases: ['Object', 'BaseModel'] }

type CollectionServices = Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>

/** Source code is a file of the project, as the SDKs store it. */
const storeSource =
  (services: Pick<Services, 'eventStore' | 'blobs' | 'ids'>) =>
  async (project_id: string, code: string, cause: Cause): Promise<string> => {
    const bytes = Buffer.from(code)
    const blob = await services.blobs.put(bytes)
    const digest = weaveDigest(blob)
    const file = { project_id, digest, blob, size: bytes.length, wb_user_id: cause.actor }
    const stream = fileStream(project_id, digest)
    await execute(services)(fileDecider, stream, [{ type: 'StoreFile', file }], cause, { assumeNew: true })
    return digest
  }

/** The first of the files that an object names; empty where it names none. */
const sourceIn =
  (services: Pick<Services, 'eventStore' | 'blobs'>) =>
  async (project: string, { files }: JsonObject, position: Position): Promise<string> => {
    const digest = isJsonObject(files) ? Object.values(files)[0] : undefined
    if (typeof digest !== 'string') return ''
    const file = await storedFile(services, project, digest, position).catch((error: unknown) => {
      if (error instanceof Failure) return undefined
      throw error
    })
    const content = file === undefined ? undefined : await services.blobs.get(file.blob)
    return content === undefined ? '' : Buffer.from(content).toString('utf8')
  }

const opWith =
  (services: CollectionServices) =>
  async (code: string, project: string, cause: Cause): Promise<JsonObject> => ({
    ...OP_WITHOUT_CODE,
    files: { 'obj.py': await storeSource(services)(project, code, cause) },
  })

const publishOp =
  (services: CollectionServices) =>
  async (project: string, object_id: string, val: JsonObject, cause: Cause) => {
    const { digest } = await publishObject(services)(project, object_id, val, cause)
    return versionRef(project, 'op', object_id, digest)
  }

const opRoutes = (services: CollectionServices): readonly AnyRoute[] =>
  collectionRoutes(services, {
    name: 'ops',
    singular: 'an op',
    baseClass: null,
    body: open('OpCreateRequest', {
      optional: { name: withDefault(string, 'op', true), source_code: withDefault(string, '', true) },
    }),
    created: open('OpCreateResponse', { required: created }),
    shown: open('StoredOp', { required: { ...shown, code: string } }),
    nameOf: ({ name }) => name,
    valueOf: ({ source_code }, project, _id, cause) => opWith(services)(source_code, project, cause),
    answered: () => ({}),
    membersOf: async (val, project, position) => ({ code: await sourceIn(services)(project, val, position) }),
  })

const datasetRoutes = (services: CollectionServices): readonly AnyRoute[] =>
  collectionRoutes(services, {
    name: 'datasets',
    singular: 'a dataset',
    baseClass: 'Dataset',
    body: open('DatasetCreateRequest', {
      required: { rows: arrayOf(jsonObject) },
      optional: { name: withDefault(string, 'dataset', true), description: nullableText(string) },
    }),
    created: open('DatasetCreateResponse', { required: created }),
    shown: open('StoredDataset', {
      required: { ...shown, ...described, rows: string },
      optional: description,
    }),
    nameOf: ({ name }) => name,
    valueOf: async ({ name, description, rows }, project, _id, cause) => {
      const { digests: rowDigests, contents } = await digestedRows(services.sha256, rows)
      const table = { projectId: project, userId: cause.actor, rowDigests, contents: contents.values() }
      const { digest } = await publishTable(services)(table, cause)
      return { ...ofClass('Dataset', name, description), rows: tableRef(project, digest) }
    },
    answered: () => ({}),
    membersOf: (val) => Promise.resolve({ ...names(val), rows: textOf(val['rows']) ?? '' }),
  })

const scorerRoutes = (services: CollectionServices): readonly AnyRoute[] =>
  collectionRoutes(services, {
    name: 'scorers',
    singular: 'a scorer',
    baseClass: 'Scorer',
    body: open('ScorerCreateRequest', {
      required: { name: string, op_source_code: string },
      optional: { description: nullableText(string) },
    }),
    created: open('ScorerCreateResponse', { required: { ...created, scorer: string } }),
    shown: open('StoredScorer', {
      required: { ...shown, ...described, score_op: string },
      optional: description,
    }),
    nameOf: ({ name }) => name,
    valueOf: async ({ name, description, op_source_code }, project, id, cause) => {
      const op = await opWith(services)(op_source_code, project, cause)
      const score = await publishOp(services)(project, `${id.slice(0, MAX_STEM)}.score`, op, cause)
      return { ...ofClass('Scorer', name, description), column_map: null, score }
    },
    answered: (scorer) => ({ scorer }),
    membersOf: (val) => Promise.resolve({ ...names(val), score_op: textOf(val['score']) ?? '' }),
  })

const evaluationRoutes = (services: CollectionServices): readonly AnyRoute[] =>
  collectionRoutes(services, {
    name: 'evaluations',
    singular: 'an evaluation',
    baseClass: 'Evaluation',
    body: open('EvaluationCreateRequest', {
      required: { name: string, dataset: objectRef },
      optional: {
        description: nullableText(string),
        scorers: withDefault(arrayOf(objectOrOpRef), [], true),
        trials: withDefault(integerBetween(1, 1_000_000), 1, true),
        evaluation_name: nullableText(string),
        eval_attributes: nullable(jsonObject),
      },
    }),
    created: open('EvaluationCreateResponse', { required: { ...created, evaluation_ref: string } }),
    shown: open('StoredEvaluation', {
      required: { ...shown, ...described, dataset: string, scorers: arrayOf(string), trials: int64 },
      optional: {
        ...description,
        evaluation_name: nullable(string),
        evaluate_op: nullable(string),
        predict_and_score_op: nullable(string),
        summarize_op: nullable(string),
      },
    }),
    nameOf: ({ name }) => name,
    valueOf: async (body, project, _id, cause) => {
      const op = (name: string) => publishOp(services)(project, name, OP_WITHOUT_CODE, cause)
      return {
        ...ofClass('Evaluation', body.name, body.description),
        dataset: body.dataset,
        scorers: [...body.scorers],
        trials: body.trials,
        evaluation_name: body.evaluation_name,
        metadata: body.eval_attributes,
        evaluate: await op(RUN_OP),
        predict_and_score: await op(ROW_OP),
        summarize: await op(SUMMARY_OP),
      }
    },
    answered: (evaluation_ref) => ({ evaluation_ref }),
    membersOf: (val) =>
      Promise.resolve({
        ...names(val),
        dataset: textOf(val['dataset']) ?? '',
        scorers: textsIn(val['scorers']),
        trials: typeof val['trials'] === 'number' ? val['trials'] : 1,
        evaluation_name: textOf(val['evaluation_name']),
        evaluate_op: textOf(val['evaluate']),
        predict_and_score_op: textOf(val['predict_and_score'] ?? val['predictAndScore']),
        summarize_op: textOf(val['summarize']),
      }),
  })

const modelRoutes = (services: CollectionServices): readonly AnyRoute[] =>
  collectionRoutes(services, {
    name: 'models',
    singular: 'a model',
    baseClass: 'Model',
    body: open('ModelCreateRequest', {
      required: { name: string, source_code: string },
      optional: { description: nullableText(string), attributes: nullable(jsonObject) },
    }),
    created: open('ModelCreateResponse', { required: { ...created, model_ref: string } }),
    shown: open('StoredModel', {
      required: { ...shown, ...described, source_code: string },
      optional: { ...description, attributes: nullable(jsonObject) },
    }),
    nameOf: ({ name }) => name,
    valueOf: async ({ name, description, source_code, attributes }, project, _id, cause) => ({
      ...ofClass('Model', name, description),
      files: { 'model.py': await storeSource(services)(project, source_code, cause) },
      attributes,
    }),
    answered: (model_ref) => ({ model_ref }),
    membersOf: async (val, project, position) => ({
      ...names(val),
      source_code: await sourceIn(services)(project, val, position),
      attributes: isJsonObject(val['attributes']) ? val['attributes'] : null,
    }),
  })

/** The objects that evaluations are made of, over the object store. */
export const evaluationObjectRoutes = (services: CollectionServices): readonly AnyRoute[] => [
  ...opRoutes(services),
  ...datasetRoutes(services),
  ...scorerRoutes(services),
  ...evaluationRoutes(services),
  ...modelRoutes(services),
]

const MAX_STEM = 120

const ofClass = (name: string, title: string, description: string | null): JsonObject => ({
  _type: name,
  _class_name: name,
  ...OBJECT,
  name: title,
  description,
})

const names = (val: JsonObject): JsonObject => ({
  name: textOf(val['name']) ?? '',
  description: textOf(val['description']),
})

const textsIn = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
