import { InvalidQuery } from '../../domain/query/errors.js'
import type { Operand, Operation } from '../../domain/query/expression.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { CompilePattern } from '../../kernel/ports/patterns.js'
import { compileCondition } from '../expression/compile.js'
import { fieldValue, type Fields } from '../expression/fields.js'
import { asText } from '../expression/value.js'
import { joined, sql, type Sql } from '../sql.js'

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

/** The fields of runs as of a position, where one is given. */
export const fieldsOf = ({ asOf }: { readonly asOf?: Position | undefined }): Fields => {
  const { summary_metrics, ...fields } = FIELDS
  return asOf === undefined ? FIELDS : fields
}

/** The name of a field, for one that clients may call otherwise. */
const fieldOf = (name: string, fields: Fields): string => {
  const [root = '', ...path] = name.split('.')
  const known = Object.hasOwn(OTHER_NAMES, root) ? OTHER_NAMES[root]! : root
  if (!Object.hasOwn(fields, known))
    throw new InvalidQuery(
      `a filter of runs${fields === FIELDS ? '' : ' as of a position'} cannot have the field ${name}; it can have ${[...Object.keys(fields), 'tags'].join(', ')}`,
    )
  return [known, ...path].join('.')
}

/** The order of a client, such as `-created_at` or `+summary_metrics.loss`. */
export const orderOf = (text: string, fields: Fields) =>
  text
    .split(',')
    .filter((one) => one !== '')
    .map((one) => ({
      field: fieldOf(one.replace(/^[+-]/, ''), fields),
      direction: one.startsWith('-') ? ('desc' as const) : ('asc' as const),
    }))

const COMPARISONS = ['$gt', '$gte', '$lt', '$lte'] as const

/**
 * A filter in the form of MongoDB, as clients of runs send it, as an SQL condition.
 *
 * @throws InvalidQuery that names what it cannot have
 */
export const compileRunFilter = (filter: Json, compilePattern: CompilePattern, fields: Fields): Sql => {
  let conditions = 0
  const nameOf = (name: string) => fieldOf(name, fields)

  const add = (condition: Sql): Sql => {
    conditions += 1
    return sql`ifNull(${condition}, false)`
  }
  const operation = (one: Operation) => add(compileCondition(one, fields))
  const textOf = (field: string) => asText(fieldValue(fields, field))
  const tags = (wanted: readonly Json[]) =>
    add(sql`hasAny(JSONExtract(ifNull(tags, '[]'), 'Array(String)'), ${wanted.map(String)})`)

  const equal = (name: string, value: Json): Sql => {
    if (name === 'tags') return tags(Array.isArray(value) ? (value as readonly Json[]) : [value])
    const field: Operand = { $getField: nameOf(name) }
    if (value === null) return sql`NOT ${exists(field)}`
    return operation({ $eq: [field, { $literal: value }] })
  }
  const exists = (field: Operand): Sql =>
    operation({ $eq: [{ $convert: { input: field, to: 'exists' } }, { $literal: true }] })

  const among = (name: string, values: Json): Sql => {
    if (!Array.isArray(values)) throw new InvalidQuery(`$in of ${name} should be a list`)
    const list = values as readonly Json[]
    if (name === 'tags') return tags(list)
    return operation({ $in: [{ $getField: nameOf(name) }, list.map(($literal) => ({ $literal }))] })
  }

  const tested = (name: string, operator: string, value: Json): Sql => {
    switch (operator) {
      case '$eq':
        return equal(name, value)
      case '$ne':
        return sql`NOT ${equal(name, value)}`
      case '$in':
        return among(name, value)
      case '$nin':
        return sql`NOT ${among(name, value)}`
      case '$exists':
        return sql`${value === false ? sql`NOT ` : sql``}${exists({ $getField: nameOf(name) })}`
      case '$regex': {
        if (typeof value !== 'string' || name === 'tags')
          throw new InvalidQuery(`$regex of ${name} should be a text`)
        requirePattern(compilePattern, value)
        return add(sql`match(${textOf(nameOf(name))}, ${value})`)
      }
      case '$contains':
        if (name === 'tags') return tags([value])
        if (typeof value !== 'string') throw new InvalidQuery(`$contains of ${name} should be a text`)
        return add(sql`position(${textOf(nameOf(name))}, ${value}) > 0`)
      case '$not':
        return sql`NOT ${field(name, value)}`
      default: {
        const comparison = COMPARISONS.find((one) => one === operator)
        if (comparison === undefined)
          throw new InvalidQuery(`a filter of runs cannot have the operator ${operator}`)
        const pair = [{ $getField: nameOf(name) }, { $literal: value }] as const
        return operation({ [comparison]: pair } as Operation)
      }
    }
  }

  const field = (name: string, value: Json): Sql => {
    if (conditions > MAX_CONDITIONS)
      throw new InvalidQuery(`a filter of runs can have at most ${MAX_CONDITIONS} conditions`)
    if (!isJsonObject(value) || !Object.keys(value).some((key) => key.startsWith('$')))
      return equal(name, value)
    return every(
      Object.entries(value).map(([operator, operand]) => tested(name, operator, operand)),
      'AND',
      sql`true`,
    )
  }

  const all = (node: Json, depth: number): Sql => {
    if (!isJsonObject(node)) throw new InvalidQuery('a filter of runs should be an object')
    if (depth > MAX_DEPTH) throw new InvalidQuery(`a filter of runs can be nested at most ${MAX_DEPTH} times`)
    const parts = Object.entries(node).map(([key, value]) => {
      if (key === '$not') return sql`NOT ${all(value, depth + 1)}`
      if (key !== '$and' && key !== '$or' && key !== '$nor') return field(key, value)
      if (!Array.isArray(value)) throw new InvalidQuery(`${key} should be a list`)
      const each = (value as readonly Json[]).map((one) => all(one, depth + 1))
      if (key === '$and') return every(each, 'AND', sql`true`)
      return sql`${key === '$nor' ? sql`NOT ` : sql``}${every(each, 'OR', sql`false`)}`
    })
    return every(parts, 'AND', sql`true`)
  }

  return all(filter, 0)
}

const every = (parts: readonly Sql[], by: 'AND' | 'OR', none: Sql): Sql =>
  parts.length === 0 ? none : sql`(${joined(parts, ` ${by} `)})`

const requirePattern = (compile: CompilePattern, source: string): void => {
  const compiled = compile(source)
  if ('error' in compiled) throw new InvalidQuery(`$regex: ${compiled.error}`)
}
