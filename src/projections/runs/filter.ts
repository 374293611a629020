import { InvalidQuery } from '../../domain/query/errors.js'
import type { Operand, Operation } from '../../domain/query/expression.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { CompilePattern } from '../../kernel/ports/patterns.js'
import type { SqlParameter } from '../../kernel/ports/clickhouse.js'
import { compileCondition, type Compiled } from '../expression/compile.js'
import { fieldValue, type Fields } from '../expression/fields.js'
import { newParameters } from '../expression/parameters.js'
import { asText } from '../expression/value.js'

/** The fields of a run, in the SQL of `queries.ts`. */
const FIELDS: Fields = {
  run_id: { kind: 'text', sql: 'run_id' },
  display_name: { kind: 'text', sql: 'name' },
  state: { kind: 'text', sql: 'state' },
  username: { kind: 'text', sql: 'user' },
  group: { kind: 'text', sql: 'group_name' },
  host: { kind: 'text', sql: 'host' },
  job_type: { kind: 'text', sql: 'job_type' },
  notes: { kind: 'text', sql: 'notes' },
  created_at: { kind: 'instant', sql: 'started_at' },
  heartbeat_at: { kind: 'instant', sql: 'at' },
  duration: { kind: 'number', sql: "dateDiff('second', started_at, at)" },
  config: { kind: 'json', sql: 'readable_config' },
  summary_metrics: { kind: 'json', sql: 'readable_summary' },
  /** Runs of sweeps are refused, so that no run has one. */
  sweep: { kind: 'text', sql: "''" },
}

/** Names of clients for fields. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  name: 'run_id',
  displayName: 'display_name',
  createdAt: 'created_at',
  heartbeatAt: 'heartbeat_at',
  jobType: 'job_type',
  summaryMetrics: 'summary_metrics',
}

const MAX_DEPTH = 32
const MAX_CONDITIONS = 200

/** The name of a field, for one that clients may call otherwise. */
const fieldOf = (name: string): string => {
  const [root = '', ...path] = name.split('.')
  const known = Object.hasOwn(OTHER_NAMES, root) ? OTHER_NAMES[root]! : root
  if (!Object.hasOwn(FIELDS, known))
    throw new InvalidQuery(
      `a filter of runs cannot have the field ${name}; it can have ${[...Object.keys(FIELDS), 'tags'].join(', ')}`,
    )
  return [known, ...path].join('.')
}

/** The order of a client, such as `-created_at` or `+summary_metrics.loss`. */
export const orderOf = (text: string) =>
  text
    .split(',')
    .filter((one) => one !== '')
    .map((one) => ({
      field: fieldOf(one.replace(/^[+-]/, '')),
      direction: one.startsWith('-') ? ('desc' as const) : ('asc' as const),
    }))

export { FIELDS as RUN_FIELDS }

const COMPARISONS = ['$gt', '$gte', '$lt', '$lte'] as const

/**
 * A filter in the form of MongoDB, as clients of runs send it, as an SQL condition.
 *
 * @throws InvalidQuery that names what it cannot have
 */
export const compileRunFilter = (filter: Json, compilePattern: CompilePattern): Compiled => {
  let parameters: Readonly<Record<string, SqlParameter>> = {}
  let conditions = 0

  const add = (compiled: Compiled): string => {
    parameters = { ...parameters, ...compiled.parameters }
    return `ifNull(${compiled.sql}, false)`
  }
  const prefix = () => `f${(conditions += 1)}_`
  const operation = (one: Operation) => add(compileCondition(one, FIELDS, prefix()))
  const text = (field: string, test: (sql: string, pattern: string) => string, value: string) => {
    const own = newParameters(prefix())
    const sql = test(asText(fieldValue(FIELDS, field, own)), own.text(value))
    return add({ sql, parameters: own.all() })
  }

  const tags = (wanted: readonly Json[]) => {
    const own = newParameters(prefix())
    const texts = own.texts(wanted.map(String))
    return add({
      sql: `hasAny(JSONExtract(ifNull(tags, '[]'), 'Array(String)'), ${texts})`,
      parameters: own.all(),
    })
  }

  const equal = (name: string, value: Json): string => {
    if (name === 'tags') return tags(Array.isArray(value) ? (value as readonly Json[]) : [value])
    const field: Operand = { $getField: fieldOf(name) }
    if (value === null) return `NOT ${exists(field)}`
    return operation({ $eq: [field, { $literal: value }] })
  }
  const exists = (field: Operand): string =>
    operation({ $eq: [{ $convert: { input: field, to: 'exists' } }, { $literal: true }] })

  const among = (name: string, values: Json): string => {
    if (!Array.isArray(values)) throw new InvalidQuery(`$in of ${name} should be a list`)
    const list = values as readonly Json[]
    if (name === 'tags') return tags(list)
    return operation({ $in: [{ $getField: fieldOf(name) }, list.map(($literal) => ({ $literal }))] })
  }

  const tested = (name: string, operator: string, value: Json): string => {
    switch (operator) {
      case '$eq':
        return equal(name, value)
      case '$ne':
        return `NOT ${equal(name, value)}`
      case '$in':
        return among(name, value)
      case '$nin':
        return `NOT ${among(name, value)}`
      case '$exists':
        return `${value === false ? 'NOT ' : ''}${exists({ $getField: fieldOf(name) })}`
      case '$regex': {
        if (typeof value !== 'string' || name === 'tags')
          throw new InvalidQuery(`$regex of ${name} should be a text`)
        requirePattern(compilePattern, value)
        return text(fieldOf(name), (sql, pattern) => `match(${sql}, ${pattern})`, value)
      }
      case '$contains':
        if (name === 'tags') return tags([value])
        if (typeof value !== 'string') throw new InvalidQuery(`$contains of ${name} should be a text`)
        return text(fieldOf(name), (sql, part) => `position(${sql}, ${part}) > 0`, value)
      case '$not':
        return `NOT ${field(name, value)}`
      default: {
        const comparison = COMPARISONS.find((one) => one === operator)
        if (comparison === undefined)
          throw new InvalidQuery(`a filter of runs cannot have the operator ${operator}`)
        const pair = [{ $getField: fieldOf(name) }, { $literal: value }] as const
        return operation({ [comparison]: pair } as unknown as Operation)
      }
    }
  }

  const field = (name: string, value: Json): string => {
    if (conditions > MAX_CONDITIONS)
      throw new InvalidQuery(`a filter of runs can have at most ${MAX_CONDITIONS} conditions`)
    if (!isJsonObject(value) || !Object.keys(value).some((key) => key.startsWith('$')))
      return equal(name, value)
    return joined(
      Object.entries(value).map(([operator, operand]) => tested(name, operator, operand)),
      'AND',
      'true',
    )
  }

  const all = (node: Json, depth: number): string => {
    if (!isJsonObject(node)) throw new InvalidQuery('a filter of runs should be an object')
    if (depth > MAX_DEPTH) throw new InvalidQuery(`a filter of runs can be nested at most ${MAX_DEPTH} times`)
    const parts = Object.entries(node).map(([key, value]) => {
      if (key === '$not') return `NOT ${all(value, depth + 1)}`
      if (key !== '$and' && key !== '$or' && key !== '$nor') return field(key, value)
      if (!Array.isArray(value)) throw new InvalidQuery(`${key} should be a list`)
      const each = (value as readonly Json[]).map((one) => all(one, depth + 1))
      if (key === '$and') return joined(each, 'AND', 'true')
      return `${key === '$nor' ? 'NOT ' : ''}${joined(each, 'OR', 'false')}`
    })
    return joined(parts, 'AND', 'true')
  }

  return { sql: all(filter, 0), parameters }
}

const joined = (parts: readonly string[], by: 'AND' | 'OR', none: string): string =>
  parts.length === 0 ? none : `(${parts.join(` ${by} `)})`

const requirePattern = (compile: CompilePattern, source: string): void => {
  const compiled = compile(source)
  if ('error' in compiled) throw new InvalidQuery(`$regex: ${compiled.error}`)
}
