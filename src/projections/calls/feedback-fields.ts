import { fieldPath } from '../../domain/query/field-path.js'
import { columnValue, type Derived } from '../expression/fields.js'
import { THERE } from '../feedback/queries.js'
import { FEEDBACK_FIELDS, withReadable } from '../feedback/stored-feedback.js'

interface Join {
  readonly alias: string
  readonly ofType: string
  readonly columns: Set<string>
}

const ANY_TYPE = '*'

/**
 * `feedback.[type].field`: a field of the feedback of a type on a call, `*` for any type; of several pieces, that which
 * was given last.
 */
export const feedbackFields = () => {
  const joined = new Map<string, Join>()
  const field: Derived = {
    kind: 'derived',
    value: (name, parameters) => {
      const asked = partsOf(name)
      if (asked === undefined) return undefined
      const [root, ...path] = fieldPath(asked.path)
      const column = Object.hasOwn(FEEDBACK_FIELDS, root) ? FEEDBACK_FIELDS[root] : undefined
      if (column === undefined) return undefined
      const join = joined.get(asked.type) ?? {
        alias: `feedback_${joined.size}`,
        ofType: asked.type === ANY_TYPE ? '' : `AND feedback_type = ${parameters.text(asked.type)}`,
        columns: new Set<string>(),
      }
      const value = columnValue(
        { kind: column.kind, sql: `${join.alias}.last_${column.sql}` },
        path,
        parameters,
      )
      if (value === undefined) return undefined
      join.columns.add(column.sql)
      joined.set(asked.type, join)
      return value
    },
  }
  return { field, joins: () => [...joined.values()].map(joinOf) }
}

const ROOT = 'feedback.['
const END = '].'

const partsOf = (name: string) => {
  const end = name.indexOf(END, ROOT.length)
  if (!name.startsWith(ROOT) || end <= ROOT.length) return undefined
  return { type: name.slice(ROOT.length, end), path: name.slice(end + END.length) }
}

/** A tuple is never null, so that the last piece counts where its column is. */
const joinOf = ({ alias, ofType, columns }: Join): string => {
  const last = [...columns].map(
    (column) => `argMax(tuple(toNullable(${column})), tuple(created_at, id)).1 AS last_${column}`,
  )
  return `LEFT JOIN (
    ${withReadable(last.join(' '))} SELECT assumeNotNull(weave_ref) AS ref, ${last.join(', ')} FROM feedback FINAL
    WHERE ${THERE} AND weave_ref IS NOT NULL ${ofType} GROUP BY ref
  ) AS ${alias} ON ${alias}.ref = concat('weave:///', call_project_id, '/call/', call_id)`
}
