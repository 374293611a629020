import { fieldPath } from '../../domain/query/field-path.js'
import { UnknownField } from '../../domain/query/errors.js'
import { raw, sql } from '../sql.js'
import { jsonAt } from './json.js'
import { mayBeWide } from './readable-json.js'
import type { Single, Value } from './value.js'

/** The SQL of a field, Nullable: text, a number, a DateTime64(6), or JSON text, whose parts have dotted names. */
export interface Column {
  readonly kind: 'text' | 'number' | 'instant' | 'json'
  readonly sql: string
  /** For JSON: SQL that is true if it may have integers of more than 64 bits. By default the text is searched. */
  readonly isWide?: string
}

/** A field that resolves the whole name; undefined for an unknown one. */
export interface Derived {
  readonly kind: 'derived'
  readonly value: (name: string) => Value | undefined
}

export type Field = Column | Derived

export type Fields = Readonly<Record<string, Field>>

/** @throws UnknownField */
export const fieldValue = (fields: Fields, name: string): Value => {
  const [root, ...path] = fieldPath(name)
  const field = Object.hasOwn(fields, root) ? fields[root] : undefined
  const value = field === undefined ? undefined : valueOf(field, name, path)
  if (value === undefined) throw new UnknownField(name)
  return value.type === 'several'
    ? { ...value, of: (item) => withName(value.of(item), name) }
    : withName(value, name)
}

/** For messages. */
const withName = (value: Single, field: string): Single =>
  value.type === 'number' || value.type === 'instant' ? { ...value, field } : value

const valueOf = (field: Field, name: string, path: readonly string[]): Value | undefined =>
  field.kind === 'derived' ? field.value(name) : columnValue(field, path)

/** The value of a column, or of a part of JSON; undefined for a part of another column. */
export const columnValue = (field: Column, path: readonly string[] = []): Single | undefined => {
  if (path.length > 0 && field.kind !== 'json') return undefined
  switch (field.kind) {
    case 'text':
      return { type: 'text', sql: sql`nullIf(${raw(field.sql)}, '')` }
    case 'number':
      return { type: 'number', sql: sql`toFloat64(${raw(field.sql)})` }
    case 'instant':
      return { type: 'instant', sql: raw(field.sql) }
    case 'json':
      return { type: 'json', ...jsonAt(raw(field.sql), field.isWide ?? mayBeWide(field.sql), path) }
  }
}
