import * as t from 'io-ts'
import { Codec } from '../../../kernel/codec/codec.js'
import type { JsonObject } from '../../../kernel/json/json.js'
import { arrayOf, nullable, withDefault } from '../../../kernel/codec/containers.js'
import { boolean, int64, jsonObject, oneOf, string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { integerInQuery } from '../../server/integer-in-query.js'
import { takePage } from '../../server/page.js'

export const listQuery = open('FineTuningListQuery', {
  optional: {
    limit: withDefault(integerInQuery(1, 10_000), 20),
    after: withDefault(string, undefined),
    purpose: withDefault(string, undefined),
    order: withDefault(oneOf('asc', 'desc'), 'desc' as const),
  },
})

const PAIR = /^metadata\[(.*)\]$/s

/** Clients send each pair of metadata as `metadata[key]=value`, and `metadata=null` for jobs without any. */
export const jobListQuery = new Codec<t.TypeOf<typeof listQuery> & { readonly metadata: JsonObject | null }>(
  'FineTuningJobsQuery',
  (u): u is t.TypeOf<typeof listQuery> & { readonly metadata: JsonObject | null } =>
    listQuery.is(u) && 'metadata' in u,
  (u, context) => {
    const decoded = listQuery.validate(u, context)
    if (decoded._tag === 'Left') return decoded
    const given = Object.entries(u as JsonObject)
    const pairs = given.flatMap(([name, value]) => {
      const key = PAIR.exec(name)?.[1]
      return key === undefined ? [] : [[key, value] as const]
    })
    const isNone = given.some(([name, value]) => name === 'metadata' && value === 'null')
    return t.success({ ...decoded.right, metadata: isNone ? null : Object.fromEntries(pairs) })
  },
  listQuery.schema,
)

export const listOf = <A>(item: Codec<A>) =>
  open(`${item.name}Items`, { required: { object: oneOf('list'), data: arrayOf(item), has_more: boolean } })

/** A page of items in the order of the list. @throws Failure for a cursor that is no item */
export const listPage = <A extends { readonly id: string }>(
  items: readonly A[],
  { after, limit }: Pick<t.TypeOf<typeof listQuery>, 'after' | 'limit'>,
) => {
  const { data, next } = takePage(items, { after, limit, keyOf: ({ id }) => id })
  return { object: 'list' as const, data, has_more: next !== null }
}

export const file = open('DataFile', {
  required: {
    id: string,
    object: oneOf('file'),
    bytes: int64,
    created_at: int64,
    filename: string,
    purpose: string,
    status: oneOf('processed'),
  },
})

export const deletedFile = open('DeletedDataFile', {
  required: { id: string, object: oneOf('file'), deleted: boolean },
})

export const fineTuningJob = open('FineTuningJob', {
  required: {
    id: string,
    object: oneOf('fine_tuning.job'),
    created_at: int64,
    model: string,
    organization_id: string,
    status: oneOf('validating_files', 'queued', 'running', 'succeeded', 'failed', 'cancelled'),
    training_file: string,
    result_files: arrayOf(string),
    seed: int64,
    hyperparameters: jsonObject,
    method: jsonObject,
    metadata: jsonObject,
    integrations: arrayOf(jsonObject),
  },
  optional: {
    finished_at: nullable(int64),
    fine_tuned_model: nullable(string),
    validation_file: nullable(string),
    trained_tokens: nullable(int64),
    estimated_finish: nullable(int64),
    error: nullable(jsonObject),
  },
})

export const fineTuningEvent = open('FineTuningEvent', {
  required: {
    id: string,
    object: oneOf('fine_tuning.job.event'),
    created_at: int64,
    level: oneOf('info', 'warn', 'error'),
    message: string,
    type: oneOf('message', 'metrics'),
    data: jsonObject,
  },
})

export const fineTuningCheckpoint = open('FineTuningCheckpoint', {
  required: {
    id: string,
    object: oneOf('fine_tuning.job.checkpoint'),
    created_at: int64,
    fine_tuned_model_checkpoint: string,
    fine_tuning_job_id: string,
    step_number: int64,
    metrics: jsonObject,
  },
})

export const seconds = (at: string): number => Math.floor(Date.parse(at) / 1000)
