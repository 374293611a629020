import { SCORER_FIELDS, TEXT_FIELDS } from '../../domain/feedback/content.js'
import type { Json } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { instantFrom } from '../clickhouse-values.js'
import type { Column } from '../expression/fields.js'
import { readableJson } from '../expression/readable-json.js'

/** The columns of `feedback` that clients read, in the order of responses. */
const TEXT_COLUMNS = ['id', 'project_id', 'weave_ref', 'wb_user_id', 'feedback_type', ...TEXT_FIELDS] as const
const JSON_COLUMNS = ['payload', ...SCORER_FIELDS] as const

/** All columns that are inserted. */
export const FEEDBACK_COLUMNS = [
  ...TEXT_COLUMNS,
  ...JSON_COLUMNS,
  'created_at',
  'given_position',
  'purged_position',
] as const

type FeedbackColumn = (typeof TEXT_COLUMNS)[number] | (typeof JSON_COLUMNS)[number] | 'created_at'

export type StoredFeedback = Readonly<Record<FeedbackColumn, Json>>

/** The fields that queries may name, in SQL. */
export const FEEDBACK_FIELDS: Readonly<Record<string, Column>> = {
  ...Object.fromEntries(TEXT_COLUMNS.map((column) => [column, { kind: 'text', sql: column }])),
  ...Object.fromEntries(JSON_COLUMNS.map((column) => [column, { kind: 'json', sql: `readable_${column}` }])),
  payload_dump: { kind: 'json', sql: 'readable_payload' },
  created_at: { kind: 'instant', sql: 'created_at' },
}

/** The WITH clause that a statement over {@link FEEDBACK_FIELDS} needs. */
export const withReadable = (sql: string): string => {
  const used = JSON_COLUMNS.filter((column) => sql.includes(`readable_${column}`))
  return used.length === 0
    ? ''
    : `WITH ${used.map((column) => `${readableJson(column)} AS readable_${column}`).join(', ')}`
}

export const SELECTED = [...TEXT_COLUMNS, ...JSON_COLUMNS, 'created_at']
  .map((column) => `${column} AS field_${column}`)
  .join(', ')

export const storedFeedback = (row: Readonly<Record<string, string | null>>): StoredFeedback => {
  const value = (column: FeedbackColumn): string | null => row[`field_${column}`] ?? null
  const parsed = (text: string | null): Json => (text === null ? null : parseJson(text))
  return {
    ...Object.fromEntries(TEXT_COLUMNS.map((column) => [column, value(column)])),
    ...Object.fromEntries(JSON_COLUMNS.map((column) => [column, parsed(value(column))])),
    created_at: instantFrom(value('created_at') ?? ''),
  } as unknown as StoredFeedback
}
