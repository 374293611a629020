import {
  datasetValue,
  evaluationValue,
  modelValue,
  opValue,
  scorerValue,
  sourceIn,
} from '../../application/evaluations/evaluation-objects.js'
import { arrayOf, nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, integerBetween, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import type { AnyRoute } from '../server/route.js'
import { objectOrOpRef, objectRef } from './codecs.js'
import { collectionRoutes } from './objects.js'
import type { EvaluationRouteServices } from './call-collections.js'
import { textOf } from '../../domain/evaluations/run-calls.js'

const created = { digest: string, object_id: string, version_index: int64 }
const stored = { ...created, created_at: instant }
const described = { name: string }
const description = { description: nullable(string) }

const opRoutes = (services: EvaluationRouteServices): readonly AnyRoute[] =>
  collectionRoutes(services, {
    name: 'ops',
    singular: 'an op',
    baseClass: null,
    body: open('OpCreateRequest', {
      optional: { name: withDefault(string, 'op', true), source_code: withDefault(string, '', true) },
    }),
    created: open('OpCreateResponse', { required: created }),
    stored: open('StoredOp', { required: { ...stored, code: string } }),
    valueOf: opValue(services),
    createdJson: (version) => version,
    storedJson: async (version, val, project, position) => ({
      ...version,
      code: await sourceIn(services)(project, val, position),
    }),
  })

const datasetRoutes = (services: EvaluationRouteServices): readonly AnyRoute[] =>
  collectionRoutes(services, {
    name: 'datasets',
    singular: 'a dataset',
    baseClass: 'Dataset',
    body: open('DatasetCreateRequest', {
      required: { rows: arrayOf(jsonObject) },
      optional: { name: withDefault(string, 'dataset', true), description: nullableText(string) },
    }),
    created: open('DatasetCreateResponse', { required: created }),
    stored: open('StoredDataset', {
      required: { ...stored, ...described, rows: string },
      optional: description,
    }),
    valueOf: datasetValue(services),
    createdJson: (version) => version,
    storedJson: (version, val) => ({ ...version, ...names(val), rows: textOf(val['rows']) ?? '' }),
  })

const scorerRoutes = (services: EvaluationRouteServices): readonly AnyRoute[] =>
  collectionRoutes(services, {
    name: 'scorers',
    singular: 'a scorer',
    baseClass: 'Scorer',
    body: open('ScorerCreateRequest', {
      required: { name: string, op_source_code: string },
      optional: { description: nullableText(string) },
    }),
    created: open('ScorerCreateResponse', { required: { ...created, scorer: string } }),
    stored: open('StoredScorer', {
      required: { ...stored, ...described, score_op: string },
      optional: description,
    }),
    valueOf: scorerValue(services),
    createdJson: (version, scorer) => ({ ...version, scorer }),
    storedJson: (version, val) => ({ ...version, ...names(val), score_op: textOf(val['score']) ?? '' }),
  })

const evaluationRoutes = (services: EvaluationRouteServices): readonly AnyRoute[] =>
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
    stored: open('StoredEvaluation', {
      required: { ...stored, ...described, dataset: string, scorers: arrayOf(string), trials: int64 },
      optional: {
        ...description,
        evaluation_name: nullable(string),
        evaluate_op: nullable(string),
        predict_and_score_op: nullable(string),
        summarize_op: nullable(string),
      },
    }),
    valueOf: evaluationValue(services),
    createdJson: (version, evaluation_ref) => ({ ...version, evaluation_ref }),
    storedJson: (version, val) => ({
      ...version,
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

const modelRoutes = (services: EvaluationRouteServices): readonly AnyRoute[] =>
  collectionRoutes(services, {
    name: 'models',
    singular: 'a model',
    baseClass: 'Model',
    body: open('ModelCreateRequest', {
      required: { name: string, source_code: string },
      optional: { description: nullableText(string), attributes: nullable(jsonObject) },
    }),
    created: open('ModelCreateResponse', { required: { ...created, model_ref: string } }),
    stored: open('StoredModel', {
      required: { ...stored, ...described, source_code: string },
      optional: { ...description, attributes: nullable(jsonObject) },
    }),
    valueOf: modelValue(services),
    createdJson: (version, model_ref) => ({ ...version, model_ref }),
    storedJson: async (version, val, project, position) => ({
      ...version,
      ...names(val),
      source_code: await sourceIn(services)(project, val, position),
      attributes: isJsonObject(val['attributes']) ? val['attributes'] : null,
    }),
  })

/** The objects that evaluations are made of, over the object store. */
export const evaluationObjectRoutes = (services: EvaluationRouteServices): readonly AnyRoute[] => [
  ...opRoutes(services),
  ...datasetRoutes(services),
  ...scorerRoutes(services),
  ...evaluationRoutes(services),
  ...modelRoutes(services),
]

const names = (val: JsonObject) => ({
  name: textOf(val['name']) ?? '',
  description: textOf(val['description']),
})

const textsIn = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
